// Package sqldb is where rows of data are kept.
package sqldb
