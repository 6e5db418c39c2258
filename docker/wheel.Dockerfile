# One wheel, from a source at its commit. This file is constant: what a cell of the matrix has of its own comes as ARGs,
# and as the files below `cells/${CELL}` of the context. It needs nothing newer than the BuildKit of docker 20.10.
ARG IMAGE
ARG MANAGER=none

# The cell's files by themselves: where a stage names the cell, its layers serve no other one.
FROM scratch AS cell
ARG CELL
COPY cells/${CELL}/ /

FROM ${IMAGE} AS image
COPY steps/ /pinctl/steps/

FROM image AS packages-none

FROM image AS packages-dnf
COPY --from=cell /packages /pinctl/packages
RUN --mount=type=cache,target=/var/cache/dnf,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages dnf /pinctl/packages

FROM image AS packages-microdnf
COPY --from=cell /packages /pinctl/packages
RUN --mount=type=cache,target=/var/cache/yum,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages microdnf /pinctl/packages

FROM image AS packages-apt
COPY --from=cell /packages /pinctl/packages
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt/lists,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages apt /pinctl/packages

FROM image AS packages-apk
COPY --from=cell /packages /pinctl/packages
RUN --mount=type=cache,target=/var/cache/apk,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages apk /pinctl/packages

# One of the stages above.
# hadolint ignore=DL3006
FROM packages-${MANAGER} AS build
RUN mkdir -p /build/home /build/cache/pip /build/cache/ccache && chown -R 65532:65532 /build
ENV HOME=/build/home
USER 65532:65532
WORKDIR /build
COPY --from=cell --chown=65532:65532 /requires.txt /tools.txt /build/cell/
ARG PYTHON
RUN --mount=type=cache,id=pinctl-pip,target=/build/cache/pip,uid=65532,gid=65532 \
    --mount=type=secret,id=ca,uid=65532 --mount=type=secret,id=proxy,uid=65532 \
    --mount=type=secret,id=pip,uid=65532 --mount=type=secret,id=netrc,uid=65532 \
    sh /pinctl/steps/python "${PYTHON}" /build/cell
COPY --chown=65532:65532 source/ /build/source/
COPY --from=cell --chown=65532:65532 /env /excludes /build/cell/
ARG COMMIT
ARG SHARE=1
# Another value has the steps from here on run again.
ARG FRESH=
RUN --mount=type=cache,id=pinctl-ccache,target=/build/cache/ccache,uid=65532,gid=65532 \
    sh /pinctl/steps/compile "${COMMIT}" "${SHARE}"
RUN sh /pinctl/steps/repair

FROM scratch AS wheel
COPY --from=build /build/out/ /
