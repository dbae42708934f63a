// Package document keeps the nine models of the house as JSON documents: the content of each entity's documents, the
// index keys under which they are found, and how they are read, written, compared with SQL and rebuilt.
//
// One declaration per entity (model.go) drives all of it. SQL decides the content of a document. Redis has a copy
// that is made after the commit; a reader that misses something there reads SQL.
package document
