// Package sqldb is the database layer below every store. It opens SQLite or PostgreSQL, migrates, runs transactions,
// writes many rows with one statement, and commits concurrent operations in groups.
//
// Statements are text files beside the package that runs them. One text serves both engines: parameters are $1, $2; a
// fragment for only one engine is a comment marked with the engine's name, as in "pg: FOR UPDATE"; and @rows($1: id
// text, qty int) is a table built from one parameter, with unnest on PostgreSQL and a virtual table on SQLite.
//
// Driver errors are translated in this package only: see ErrUnique and the errors beside it.
package sqldb
