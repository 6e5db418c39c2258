# A wheel, installed and imported where nothing of its build is left. Constant, as wheel.Dockerfile is.
ARG IMAGE
ARG MANAGER=none

FROM ${IMAGE} AS image
COPY steps/ /pinctl/steps/

FROM image AS packages-none

FROM image AS packages-dnf
COPY cell/packages.run /pinctl/packages
RUN --mount=type=cache,target=/var/cache/dnf,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages dnf /pinctl/packages

FROM image AS packages-microdnf
COPY cell/packages.run /pinctl/packages
RUN --mount=type=cache,target=/var/cache/yum,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages microdnf /pinctl/packages

FROM image AS packages-apt
COPY cell/packages.run /pinctl/packages
RUN --mount=type=cache,target=/var/cache/apt,sharing=locked \
    --mount=type=cache,target=/var/lib/apt/lists,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages apt /pinctl/packages

FROM image AS packages-apk
COPY cell/packages.run /pinctl/packages
RUN --mount=type=cache,target=/var/cache/apk,sharing=locked \
    --mount=type=secret,id=ca --mount=type=secret,id=proxy \
    sh /pinctl/steps/packages apk /pinctl/packages

# One of the stages above.
# hadolint ignore=DL3006
FROM packages-${MANAGER} AS run
RUN mkdir -p /check/home /check/out /check/cache/pip && chown -R 65532:65532 /check
ENV HOME=/check/home
USER 65532:65532
WORKDIR /check
COPY --chown=65532:65532 cell/ /check/cell/
COPY --chown=65532:65532 wheel/ /check/wheel/
ARG PYTHON
RUN --mount=type=cache,id=pinctl-pip,target=/check/cache/pip,uid=65532,gid=65532 \
    --mount=type=secret,id=ca,uid=65532 --mount=type=secret,id=proxy,uid=65532 \
    --mount=type=secret,id=pip,uid=65532 --mount=type=secret,id=netrc,uid=65532 \
    sh /pinctl/steps/install "${PYTHON}"
RUN sh /pinctl/steps/try

FROM scratch AS seen
COPY --from=run /check/out/ /
