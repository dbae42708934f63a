// Package document keeps the nine models of the restaurant as JSON documents: the content of each entity's documents,
// the index keys under which they are found, and how they are read, written, compared with SQL and rebuilt.
//
// Each entity is declared once (model.go), and all code is driven by the declarations. SQL is authoritative. Redis has
// a copy that is written after the commit; a reader that misses a document in Redis reads SQL.
package document
