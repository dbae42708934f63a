package demo

import (
	"embed"
	"io/fs"
)

//go:embed pictures/*.svg
var pictures embed.FS

// Pictures are drawings of the demo's dishes, 4.svg of the dish 4. They were made for this program by web/scripts/draw.mjs.
func Pictures() fs.FS {
	drawn, _ := fs.Sub(pictures, "pictures") // the name is a valid one
	return drawn
}
