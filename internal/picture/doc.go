// Package picture makes of what a camera or a scanner gives what phones are to load: small JPEG files, upright, without
// a word about where they were taken.
//
// Nobody can be trusted with a picture: a file of some kilobytes may claim to be of gigapixels. What it claims is read
// first and refused above MaxPixels; one picture is decoded at a time, because each may take some hundred megabytes for
// a second. Whatever a decoder makes of a broken file is an error that the sender is told, and nothing else.
package picture
