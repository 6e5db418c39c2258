variable "CUDA_VERSION" {
  default = "13.0.3"
}

variable "TILELANG_VERSION" {
  default = "0.1.11"
}

target "runtime" {
  dockerfile = "docker/Dockerfile"
  args = {
    CUDA_VERSION     = CUDA_VERSION
    TILELANG_VERSION = TILELANG_VERSION
  }
}
