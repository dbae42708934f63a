// Package documenthttp shows what the house offers, to anybody: categories and dishes as their documents say it.
package documenthttp
