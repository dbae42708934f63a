//go:build webapp

package web

import (
	"embed"
	"io/fs"
)

// The pattern needs all: because Vite names shared chunks with a leading underscore, which a plain pattern omits.
//
//go:embed all:dist
var dist embed.FS

// Built returns the files of the apps, and whether the binary contains them.
func Built() (fs.FS, bool) {
	files, err := fs.Sub(dist, "dist")
	return files, err == nil
}
