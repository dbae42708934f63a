// Package cataloghttp serves menus to guests and the routes by which the staff edit them.
//
// The guests' menu is the most requested resource, so nothing is rendered per request: a page is rendered and compressed
// once per branch, locale and change. A client that has the current page gets 304.
package cataloghttp
