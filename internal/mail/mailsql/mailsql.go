// Package mailsql keeps letters in SQL until they are sent. Letters are written by the rooms that they come from.
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
)

// Store is mail.Store on a database.
type Store struct{ db *sqldb.DB }

// New makes a store.
func New(db *sqldb.DB) *Store { return &Store{db} }

// Claim gives letters that are due, the longest due first.
func (s *Store) Claim(ctx context.Context, now, until time.Time, limit int) ([]mail.Letter, error) {
	var letters []mail.Letter
	err := s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		rows, err := tx.Query(ctx, letterClaim, now.UnixMilli(), until.UnixMilli(), limit)
		letters, err = sqldb.Collect(rows, err, scanLetter)
		return err
	})
	return letters, err
}

func scanLetter(r sqldb.Rows) (mail.Letter, error) {
	var l mail.Letter
	var fields string
	var created, expires int64
	err := r.Scan(&l.ID, &l.Recipient, &l.Template, &l.Locale, &fields, &created, &expires, &l.Attempts)
	if err != nil {
		return l, err
	}
	l.Created, l.Expires = time.UnixMilli(created).UTC(), time.UnixMilli(expires).UTC()
	if json.Unmarshal([]byte(fields), &l.Fields) != nil {
		l.Fields = nil // a template without its fields is refused or sent with gaps; the others must not wait for it
	}
	return l, nil
}

// Done deletes letters.
func (s *Store) Done(ctx context.Context, ids []string) error {
	_, err := s.db.Exec(ctx, letterDone, sqldb.NewRowSet(len(ids)).Text("id", func(i int) string { return ids[i] }))
	return err
}

// Later lets a letter wait.
func (s *Store) Later(ctx context.Context, id string, at time.Time, attempts int, reason string) error {
	_, err := s.db.Exec(ctx, letterLater, id, at.UnixMilli(), attempts, reason)
	return err
}

// Bury marks a letter that will not be tried again. Its fields go: they may hold a code.
func (s *Store) Bury(ctx context.Context, id, reason string) error {
	_, err := s.db.Exec(ctx, letterBury, id, reason)
	return err
}

// Purge deletes dead letters that were written before a time.
func (s *Store) Purge(ctx context.Context, before time.Time) (int64, error) {
	return s.db.Exec(ctx, letterPurge, before.UnixMilli())
}

// Backlog counts what waits, how long the oldest has been due, and what is dead.
func (s *Store) Backlog(ctx context.Context, now time.Time) (pending int64, age time.Duration, dead int64, err error) {
	var oldest int64
	rows, err := s.db.Query(ctx, letterCount, now.UnixMilli())
	_, _, err = sqldb.One(rows, err, func(r sqldb.Rows) (struct{}, error) {
		return struct{}{}, r.Scan(&pending, &oldest, &dead)
	})
	return pending, max(0, now.Sub(time.UnixMilli(oldest))), dead, err
}
