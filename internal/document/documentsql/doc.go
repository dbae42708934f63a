// Package documentsql reads rows as documents, and keeps the list of documents that must be projected again.
package documentsql
