"""The playground of the site: how it is built."""
