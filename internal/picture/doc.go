// Package picture converts uploads of cameras and scanners into small, upright JPEG files without metadata such as the
// location.
//
// Uploads are untrusted: a file of some kilobytes may claim to contain gigapixels. The header is checked first, and
// pictures above MaxPixels or MaxEdge are refused, and so are JPEG files with more passes than any program writes. One
// picture is decoded at a time, because each may need some hundred megabytes for a second. A decoder's failure on a broken
// file is returned as an error to the client.
package picture
