// Package web serves the guest app and the staff console, as built by `make web`, from the binary.
//
// Files are compressed at build time. Files under /assets have a content hash in their name, and browsers cache them
// forever. Pages are revalidated on each request with 304 if unchanged. A page contains the data that the app needs
// before its first request as a block of JSON, which the content security policy allows, unlike inline scripts.
//
// A binary that is built without the tag webapp contains no apps, so building and testing it needs only Go.
package web
