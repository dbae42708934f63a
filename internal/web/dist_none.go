//go:build !webapp

package web

import "io/fs"

// Built returns the files of the apps, and whether the binary contains them.
func Built() (fs.FS, bool) { return nil, false }
