// Package cataloghttp serves menus to guests and lets the staff change them.
//
// The guests' menu is asked for most of all, so nothing is made per request: a page is rendered once per branch, locale
// and change, compressed once, and sent as it is; a client that has it already gets 304.
package cataloghttp
