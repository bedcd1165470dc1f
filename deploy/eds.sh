#!/bin/sh
# `eds` on the server's project and database, as the user of the services: /usr/local/bin/eds
set -eu
umask 077
set -a
. /etc/eds/annotator.env
set +a
cd /
exec runuser -u eds -- /opt/eds/bin/eds "$@"
