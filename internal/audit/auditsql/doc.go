// Package auditsql stores the audit log in SQL. Its head is locked last by every transaction that writes entries.
package auditsql
