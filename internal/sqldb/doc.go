// Package sqldb is the ground under every store: it opens SQLite or PostgreSQL, migrates, runs transactions, writes
// many rows with one statement, and lets operations that arrive during a commit share the next one.
//
// Statements are text files beside the package that runs them. One text serves both engines: parameters are $1, $2;
// a fragment that only one engine understands stands in a comment marked with its name, as in "pg: FOR UPDATE"; and
// @rows($1: id text, qty int) is a table made of one parameter, unnest on PostgreSQL and json_each on SQLite.
//
// Driver errors are translated here, once: see ErrUnique and its neighbours.
package sqldb
