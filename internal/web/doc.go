// Package web serves the guests' app and the staff's console to browsers: what `make web` has built, out of the binary.
//
// The files are compressed when they are built, never while they are served. What stands under /assets has the hash of
// its content in its name and is kept by browsers for good; pages are asked for anew each time and answered with 304
// when they are the same. A page carries what the app wants to know before its first request as a block of JSON, which
// the policy of contents lets stand where it would not let a script.
//
// A binary that is built without the tag webapp has no app. Nothing but Go is needed to build and test it then.
package web
