package mailingsql

import (
	"context"
	"time"

	"comanda/internal/mailing"
	"comanda/internal/sqldb"
	"comanda/internal/uid"
)

// recipient is a member to whom an e-mail is queued.
type recipient struct {
	user          int64
	email, locale string
	mailID        string
}

// Expand queues the next e-mails of the oldest mailing (N1, N4), and ends mailings whose e-mails are all settled. Any number
// of processes may run it. It returns the number of queued e-mails.
func (s *Store) Expand(ctx context.Context, now time.Time) (queued int, err error) {
	open, err := sqldb.Scalar[int64](ctx, s.db, stmt("mailing_open"))
	if err != nil || open == 0 {
		return 0, err
	}
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		queued, err = expand(ctx, tx, now)
		return err
	})
	if err != nil {
		return 0, err
	}
	return queued, s.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("recipient_lost"))
		tx.Queue(stmt("mailing_finish"), now.UnixMilli())
		return nil
	})
}

// expand queues one batch. The position in the mailing moves in the same transaction, so that a process that dies leaves
// either both or neither.
func expand(ctx context.Context, tx sqldb.Tx, now time.Time) (int, error) {
	var m mailing.Mailing
	var after, next int64
	found, err := sqldb.Read(ctx, tx, append(columns(&m), &after, &next), stmt("mailing_next"))
	if err != nil || !found || now.UnixMilli() < next {
		return 0, err
	}
	waiting, err := sqldb.Scalar[int64](ctx, tx, stmt("mailing_waiting"))
	if err != nil || waiting >= mailing.MaxWaiting {
		return 0, err
	}
	// The segment is that of its creation: neither the time without activity nor new accounts change it. Those who have
	// become active, or have withdrawn their consent, are left out.
	batch, err := sqldb.Collect(ctx, tx, sqldb.Row(func(r *recipient) []any {
		return []any{&r.user, &r.email, &r.locale}
	}), stmt("mailing_batch"),
		segmentArgs(m.Segment, m.CreatedAt, after, m.CreatedAt.UnixMilli(), string(m.Kind), mailing.BatchSize)...)
	if err != nil {
		return 0, err
	}
	queue(tx, m, batch, now)
	last := len(batch) < mailing.BatchSize
	if len(batch) > 0 {
		after = batch[len(batch)-1].user
	}
	tx.QueueExactly(1, stmt("mailing_advance"), m.ID, after, now.Add(mailing.BatchInterval).UnixMilli(), sqldb.Flag(last))
	return len(batch), nil
}

// queue adds the e-mails of a mailing and their recipients to a transaction.
func queue(tx sqldb.Tx, m mailing.Mailing, to []recipient, now time.Time) {
	if len(to) == 0 {
		return
	}
	for i := range to {
		to[i].mailID, to[i].locale = uid.New(now), m.Locale(to[i].locale)
	}
	tx.Queue(stmt("recipient_insert"), sqldb.NewRowSet(len(to)).
		Int("user_id", func(i int) int64 { return to[i].user }).
		Text("mail_id", func(i int) string { return to[i].mailID }), m.ID)
	tx.Queue(stmt("mail_queue"), sqldb.NewRowSet(len(to)).
		Text("id", func(i int) string { return to[i].mailID }).
		Text("recipient", func(i int) string { return to[i].email }).
		Text("locale", func(i int) string { return to[i].locale }),
		m.Kind.Template(), now.UnixMilli(), now.Add(mailing.TTL).UnixMilli())
}
