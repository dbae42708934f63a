// Package documentsql reads documents from SQL, imports them, and stores the outbox and the generation of their
// copies in Redis.
package documentsql
