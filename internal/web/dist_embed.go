//go:build webapp

package web

import (
	"embed"
	"io/fs"
)

// The builder names files that several parts share with a leading underscore, which a plain pattern leaves out.
//
//go:embed all:dist
var dist embed.FS

// Built gives the files of the app; false in a binary that was built without.
func Built() (fs.FS, bool) {
	files, err := fs.Sub(dist, "dist")
	return files, err == nil
}
