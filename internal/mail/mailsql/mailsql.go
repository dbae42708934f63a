// Package mailsql stores the mail outbox in SQL. Other packages queue messages in it.
package mailsql

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"comanda/internal/mail"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var (
	stmts = sqldb.Load(files)

	letterClaim = stmts.Must("letter_claim")
	letterDone  = stmts.Must("letter_done")
	letterLater = stmts.Must("letter_later")
	letterBury  = stmts.Must("letter_bury")
	letterPurge = stmts.Must("letter_purge")
	letterCount = stmts.Must("letter_count")
	letterMove  = stmts.Must("letter_deadline_move")
)

// Store is mail.Store on a database.
type Store struct{ db *sqldb.DB }

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Claim returns due messages, the longest due first.
func (s *Store) Claim(ctx context.Context, now, until time.Time, limit int) ([]mail.QueuedMessage, error) {
	var letters []mail.QueuedMessage
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		rows, err := tx.Query(ctx, letterClaim, now.UnixMilli(), until.UnixMilli(), limit)
		letters, err = sqldb.Collect(rows, err, scanLetter)
		return err
	})
	return letters, err
}

func scanLetter(r sqldb.Rows) (mail.QueuedMessage, error) {
	var l mail.QueuedMessage
	var fields string
	var created, expires int64
	err := r.Scan(&l.ID, &l.Recipient, &l.Template, &l.Locale, &fields, &created, &expires, &l.Attempts)
	if err != nil {
		return l, err
	}
	l.Created, l.Expires = time.UnixMilli(created).UTC(), time.UnixMilli(expires).UTC()
	if json.Unmarshal([]byte(fields), &l.Fields) != nil {
		l.Fields = nil // unreadable fields must not block other messages; the template is then rendered without values
	}
	return l, nil
}

// Delete deletes messages.
func (s *Store) Delete(ctx context.Context, ids []string) error {
	_, err := s.db.Exec(ctx, letterDone, sqldb.NewRowSet(len(ids)).Text("id", func(i int) string { return ids[i] }))
	return err
}

// Retry makes a message due at a time.
func (s *Store) Retry(ctx context.Context, id string, at time.Time, attempts int, reason string) error {
	_, err := s.db.Exec(ctx, letterLater, id, at.UnixMilli(), attempts, reason)
	return err
}

// DeadLetter marks a message as dead and clears its fields, which may contain a code.
func (s *Store) DeadLetter(ctx context.Context, id, reason string) error {
	_, err := s.db.Exec(ctx, letterBury, id, reason)
	return err
}

// Purge deletes dead letters that were created before a time.
func (s *Store) Purge(ctx context.Context, before time.Time) (int64, error) {
	return s.db.Exec(ctx, letterPurge, before.UnixMilli())
}

// Backlog returns the number of pending messages, how long the oldest has been due, and the number of dead letters.
func (s *Store) Backlog(ctx context.Context, now time.Time) (pending int64, age time.Duration, dead int64, err error) {
	var oldest int64
	rows, err := s.db.Query(ctx, letterCount, now.UnixMilli())
	_, _, err = sqldb.One(rows, err, func(r sqldb.Rows) (struct{}, error) {
		return struct{}{}, r.Scan(&pending, &oldest, &dead)
	})
	return pending, max(0, now.Sub(time.UnixMilli(oldest))), dead, err
}
