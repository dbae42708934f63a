// Package mailsql stores the mail outbox in SQL. Other packages queue messages in it.
package mailsql

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"time"

	"comanda/internal/mail"
	"comanda/internal/queue"
	"comanda/internal/queue/queuesql"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// messages clears the fields of a dead letter, which may contain a code (E3).
var messages = queuesql.New(queuesql.Spec{
	Table: "mail_outbox", Columns: "id, recipient, template, locale, fields, created_at, expires_at, attempts, " +
		"COALESCE(branch_id, 0), COALESCE(order_id, ''), COALESCE(subject, '')",
	Due: "available_at", Order: "available_at, id", Since: "available_at", Pending: "dead = 0",
	Outcome: `last_error = r.reason, dead = CASE r.died WHEN 0 THEN 0 ELSE 1 END,
		fields = CASE r.died WHEN 0 THEN fields ELSE '{}' END`,
}, scanMessage)

// Store is mail.Store on a database.
type Store struct {
	queuesql.Queue[mail.QueuedMessage]

	db *sqldb.DB
}

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{messages.On(db), db} }

// Settle implements mail.Store. The result of a mailing is recorded in the same transaction, so that it counts once.
func (s *Store) Settle(ctx context.Context, q mail.QueuedMessage, sent bool) error {
	if !slices.Contains(mail.MailingTemplates(), q.Template) {
		return s.DeleteQueued(ctx, []string{q.ID})
	}
	result := "SKIPPED"
	if sent {
		result = "SENT"
	}
	return s.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("mailing_result"), sqldb.IDs([]string{q.ID}), result)
		messages.QueueDelete(tx, []string{q.ID})
		return nil
	})
}

// RecordFailures implements mail.Store. If the process dies before the second statement, the mailing finds the dead
// letters when it ends.
func (s *Store) RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error {
	if err := s.Queue.RecordFailures(ctx, now, failures...); err != nil {
		return err
	}
	var dead []string
	for _, f := range failures {
		if f.Dead {
			dead = append(dead, f.ID)
		}
	}
	if len(dead) == 0 {
		return nil
	}
	_, err := s.db.Exec(ctx, stmt("mailing_result"), sqldb.IDs(dead), "FAILED")
	return err
}

// scanMessage reads a row in the order of the columns of messages.
func scanMessage(r sqldb.Rows) (mail.QueuedMessage, error) {
	var m mail.QueuedMessage
	var fields string
	err := r.Scan(&m.ID, &m.Recipient, &m.Template, &m.Locale, &fields, sqldb.Time(&m.Created), sqldb.Time(&m.Expires),
		&m.Attempts, &m.Branch, &m.OrderID, &m.Subject)
	if err != nil {
		return m, err
	}
	if json.Unmarshal([]byte(fields), &m.Fields) != nil {
		m.Fields = nil // unreadable fields must not block other messages; the template is then rendered without values
	}
	return m, nil
}

// Purge deletes dead letters that were created before a time. Messages that wait are never purged: they are sent or
// expire.
func (s *Store) Purge(ctx context.Context, before time.Time) (int64, error) {
	return s.db.Exec(ctx, stmt("message_purge"), before.UnixMilli())
}

// List returns a page of the outbox for operators, newest first, and the number of all. Addresses are masked.
func List(ctx context.Context, db *sqldb.DB, state mail.State, limit, offset int) ([]mail.Entry, int64, error) {
	dead := map[mail.State]int64{mail.Waiting: 0, mail.Failed: 1}
	which, ok := dead[state]
	if !ok {
		which = -1
	}
	return sqldb.Page(ctx, db, func(r sqldb.Rows) (e mail.Entry, err error) {
		failed := false
		err = r.Scan(&e.ID, &e.Recipient, &e.Template, &e.Locale, &e.Branch, &e.OrderID, sqldb.Time(&e.Created),
			sqldb.Time(&e.Due), &e.Attempts, sqldb.Bool(&failed), &e.Reason)
		if e.State = mail.Waiting; failed {
			e.State = mail.Failed
		}
		e.Recipient = mail.MaskAddress(e.Recipient)
		return e, err
	}, stmt("message_count"), stmt("message_list"), limit, offset, which)
}

// SendAgain makes a message due at once. One that has failed gets all its attempts and at least mail.AgainTTL. It returns
// mail.ErrUnknown for a message that is not in the outbox, and mail.ErrCodeLost for one whose code was deleted.
func SendAgain(ctx context.Context, tx sqldb.Tx, id string, now time.Time) (template string, err error) {
	failed := false
	found, err := sqldb.Read(ctx, tx, []any{&template, sqldb.Bool(&failed)}, stmt("message_lock"), id)
	switch {
	case err != nil:
		return "", err
	case !found:
		return "", mail.ErrUnknown
	case failed && mail.HasCode(template):
		return "", mail.ErrCodeLost
	}
	_, err = tx.Exec(ctx, stmt("message_again"), id, now.UnixMilli(), now.Add(mail.AgainTTL).UnixMilli())
	return template, err
}

// MoveDeadlines shifts the due and expiry times of all queued messages after the deciding clock was set by that much.
// It returns the number of messages. Creation times move along, so that a message keeps its age.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("message_deadline_move"), by.Milliseconds())
}
