// Package document keeps the nine models of the house as JSON documents: what a document of each entity holds, under
// which index keys it can be found, how it is read, written, compared with SQL and built anew.
//
// One declaration per entity (entity.go) drives all of it. SQL decides what a document says; Redis holds a copy that is
// made after the commit, and a reader who misses something there asks SQL.
package document
