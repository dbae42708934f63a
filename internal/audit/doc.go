// Package audit defines the audit log: who changed what. Each entry contains the hash of the one before, so that a
// changed, removed or inserted entry is detected.
//
// Entries are written in the transaction of their change by auditsql.Record. Failed logins and denied requests change
// nothing; Incidents collects them.
package audit
