# One image for every role: `skep run`, `skep serve`, `skep migrate`, `skep validate` ... are its commands.
FROM node:24-bookworm-slim AS build
WORKDIR /skep
COPY package.json package-lock.json ./
# Nothing of a package runs while it is installed.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
# GET /version of the registry service tells them.
ARG COMMIT=""
ARG BUILD_DATE=""
# Of the packages, the image gets only the files that the program can load (docs/decisions/0370).
RUN node scripts/build.ts && node scripts/image-packages.ts /packages

# Kustomizations are built by kustomize (docs/decisions/0336). Its archive is checked by digest: another one, and a platform without a
# digest, end the build.
FROM node:24-bookworm-slim AS kustomize
ARG TARGETARCH
WORKDIR /kustomize
ADD https://github.com/kubernetes-sigs/kustomize/releases/download/kustomize%2Fv5.8.1/kustomize_v5.8.1_linux_${TARGETARCH}.tar.gz archive.tar.gz
RUN case "$TARGETARCH" in \
    amd64) digest=029a7f0f4e1932c52a0476cf02a0fd855c0bb85694b82c338fc648dcb53a819d ;; \
    arm64) digest=0953ea3e476f66d6ddfcd911d750f5167b9365aa9491b2326398e289fef2c142 ;; \
    *) echo "kustomize has no digest for the platform $TARGETARCH" >&2; exit 1 ;; \
  esac \
  && echo "$digest  archive.tar.gz" | sha256sum --check --strict \
  && tar -xzf archive.tar.gz kustomize && chmod 755 kustomize

FROM debian:bookworm-slim
# Node alone: npm, its headers and its documents are of no use here.
COPY --from=build /usr/local/bin/node /usr/local/bin/node
# Git over ssh is spoken by the system's client (docs/decisions/0022).
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates openssh-client \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
WORKDIR /skep
COPY --from=build /skep/package.json ./
COPY --from=build /packages node_modules
COPY --from=build /skep/dist dist
COPY --from=kustomize /kustomize/kustomize /usr/local/bin/kustomize
COPY manifests manifests
COPY policies policies
# The handbook of the sample fleet reads them.
COPY docs/*.md docs/
COPY scripts/image-health.ts ./
# ssh refuses to run for a user without a name.
RUN echo 'skep:x:65532:' >> /etc/group \
  && echo 'skep:x:65532:65532:skep:/var/lib/skep:/usr/sbin/nologin' >> /etc/passwd
# Files that it keeps between runs go to a volume: the root file system may be read-only.
RUN mkdir -p /var/lib/skep && chown 65532:65532 /var/lib/skep \
  && ln -s /skep/dist/skep.js /usr/local/bin/skep
# glibc returns what was freed to the system: by itself it raises both bounds with every large piece that is freed, and a proxy
# keeps ten MiB of its start for ever. The second one is above the 64 KiB that Node reads at once.
ENV MALLOC_TRIM_THRESHOLD_=131072 MALLOC_MMAP_THRESHOLD_=98304
# With this bound, and the growth that the program sets, the collector works sooner: a fifth less memory for a large fleet, and no
# slower. Pods of proxies and virtual servers have a bound of their own (docs/performance.md).
ENV NODE_OPTIONS=--max-semi-space-size=8
ENV NODE_ENV=production SKEP_STATEDIR=/var/lib/skep HOME=/var/lib/skep
VOLUME /var/lib/skep
USER 65532:65532
# Node asks, because the image has no curl. A run under way may keep the first answer waiting. Buildah and Podman keep this line
# with `--format docker` alone; Kubernetes has probes of its own and does not read it.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/skep/image-health.ts"]
ARG COMMIT=""
ARG BUILD_DATE=""
LABEL org.opencontainers.image.title="skep" \
  org.opencontainers.image.description="GitOps-oriented batch reconciler for fleets of MCP servers, with a registry service" \
  org.opencontainers.image.licenses="Apache-2.0" \
  org.opencontainers.image.revision="$COMMIT" \
  org.opencontainers.image.created="$BUILD_DATE" \
  org.opencontainers.image.source="https://github.com/skep-dev/skep"
# One thread compiles and collects beside the first one, and leaves less behind than four (docs/performance.md). Flags of V8 are set
# by the program: here they would keep Node from using its own modules as they were compiled.
ENTRYPOINT ["node", "--v8-pool-size=1", "/skep/dist/skep.js"]
CMD ["--help"]
