//go:build !webapp

package web

import "io/fs"

// Built gives the files of the app; false in a binary that was built without.
func Built() (fs.FS, bool) { return nil, false }
