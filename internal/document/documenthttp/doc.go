// Package documenthttp serves categories and dishes to the public, from their documents.
package documenthttp
