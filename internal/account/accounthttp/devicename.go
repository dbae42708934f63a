package accounthttp

import (
	"slices"

	"github.com/mileusna/useragent"
)

// deviceName returns the browser and the system of a User-Agent, or "" for other clients. The header itself is not shown:
// anyone can write into it, and an e-mail must not carry texts of strangers.
func deviceName(userAgent string) string {
	d := useragent.Parse(userAgent)
	if !slices.Contains(browsers, d.Name) || !slices.Contains(systems, d.OS) {
		return ""
	}
	return d.Name + ", " + d.OS
}

var (
	browsers = []string{
		useragent.Chrome, useragent.Safari, useragent.Firefox, useragent.Edge, useragent.Opera, useragent.Vivaldi,
		"Samsung Browser",
	}
	systems = []string{
		useragent.Android, useragent.IOS, useragent.Windows, useragent.MacOS, useragent.Linux, useragent.ChromeOS,
	}
)
