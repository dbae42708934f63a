// Package mailingsql stores segments and mailings in SQL.
//
// Locks are taken in one order: a mailing, its recipients, the outbox, the audit log.
package mailingsql

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/mailing"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
	"comanda/internal/text"
	"comanda/internal/uid"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

// Store is mailing.SegmentStore and mailing.Store on a database.
type Store struct{ db *sqldb.DB }

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{db} }

// dateFormat is the form of the dates of member_activity.
const dateFormat = "2006-01-02"

// segmentArgs returns the arguments of segment_matches.
func segmentArgs(
	ctx context.Context, conn sqldb.Reader, s mailing.MemberSegment, now time.Time, more ...any,
) ([]any, error) {
	provinces, err := places(ctx, conn, stmt("segment_provinces"), s.Province)
	if err != nil {
		return nil, err
	}
	cities, err := places(ctx, conn, stmt("segment_cities"), s.City)
	if err != nil {
		return nil, err
	}
	registered, since, day := int64(-1), int64(0), ""
	if s.Registered != nil {
		registered = sqldb.Flag(*s.Registered)
	}
	if t := s.InactiveSince(now); !t.IsZero() {
		since, day = t.UnixMilli(), t.UTC().Format(dateFormat)
	}
	return append([]any{
		sqldb.Flag(s.Province != ""), textRows(provinces), sqldb.Flag(s.City != ""), textRows(cities), registered, since, day,
	}, more...), nil
}

// places returns the stored places that a search would find under a name. They are compared here, because neither engine
// folds letters beyond ASCII as searches do.
func places(ctx context.Context, conn sqldb.Reader, stored *sqldb.Stmt, name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	all, err := sqldb.Collect(ctx, conn, sqldb.Value[string], stored)
	folded := text.Fold(name)
	return seq.Filter(all, func(place string) bool { return text.Fold(place) == folded }), err
}

func textRows(names []string) *sqldb.RowSet {
	return sqldb.NewRowSet(len(names)).Text("name", func(i int) string { return names[i] })
}

// Count implements mailing.SegmentStore.
func (s *Store) Count(ctx context.Context, of mailing.MemberSegment, now time.Time) (mailing.SegmentCounts, error) {
	return count(ctx, s.db, of, now)
}

func count(
	ctx context.Context, conn sqldb.Reader, of mailing.MemberSegment, now time.Time,
) (n mailing.SegmentCounts, err error) {
	args, err := segmentArgs(ctx, conn, of, now)
	if err != nil {
		return n, err
	}
	_, err = sqldb.Read(ctx, conn, []any{&n.Members, &n.News, &n.Remindable}, stmt("segment_count"), args...)
	return n, err
}

// Members implements mailing.SegmentStore.
func (s *Store) Members(
	ctx context.Context, of mailing.MemberSegment, now time.Time, after int64, limit int,
) ([]mailing.SegmentMember, error) {
	args, err := segmentArgs(ctx, s.db, of, now, after, limit)
	if err != nil {
		return nil, err
	}
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(m *mailing.SegmentMember) []any {
		return []any{
			&m.ID, &m.Email, &m.Phone, &m.FirstName, &m.Surname, &m.Province, &m.City, &m.Tag, sqldb.Bool(&m.Registered),
			sqldb.Bool(&m.News), sqldb.Time(&m.CreatedAt), sqldb.Time(&m.LastLogin),
		}
	}), stmt("segment_list"), args...)
}

// RecordExport implements mailing.SegmentStore.
func (s *Store) RecordExport(
	ctx context.Context, by authz.Actor, of mailing.MemberSegment, members int64, now time.Time,
) error {
	return auditsql.RecordAlone(ctx, s.db, audit.NewEntry(by, now, audit.ActionSegmentExported, "segment", "members", 0).
		WithAfter(audited{Segment: of, Members: members}))
}

// audited is the entry of an export or a mailing in the audit log.
type audited struct {
	Kind    mailing.Kind          `json:"kind,omitempty"`
	Subject string                `json:"subject,omitempty"`
	Segment mailing.MemberSegment `json:"segment"`
	Members int64                 `json:"members"`
}

// Create implements mailing.Store.
func (s *Store) Create(
	ctx context.Context, by authz.Actor, m mailing.Mailing, clientTxnID, digest string,
) (stored mailing.Mailing, isNew bool, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		stored, isNew = m, false
		if earlier, found, err := repeated(ctx, tx, m.CreatedBy, clientTxnID, digest); err != nil || found {
			stored = earlier
			return err
		}
		n, err := count(ctx, tx, m.Segment, m.CreatedAt)
		if err != nil {
			return err
		}
		recipients := n.News
		if m.Kind == mailing.Reminder {
			recipients = n.Remindable
		}
		stored.Matched, stored.Excluded = n.Members, n.Members-recipients
		switch {
		case recipients == 0:
			return mailing.ErrNoRecipients
		case recipients > mailing.MaxRecipients:
			return mailing.ErrTooLarge
		}
		if isNew, err = insert(ctx, tx, stored, clientTxnID, digest); err != nil {
			return err
		}
		if !isNew { // an equal request has committed since repeated has read
			stored, _, err = repeated(ctx, tx, m.CreatedBy, clientTxnID, digest)
			return err
		}
		after := audited{Kind: m.Kind, Segment: m.Segment, Members: recipients}
		if len(m.Texts) > 0 {
			after.Subject = m.Texts[0].Subject
		}
		return auditsql.Record(ctx, tx,
			audit.NewEntry(by, m.CreatedAt, audit.ActionMailingCreated, "mailing", m.ID, 0).WithAfter(after))
	})
	if err != nil || isNew {
		return stored, isNew, err
	}
	all := []mailing.Mailing{stored}
	return all[0], false, s.addCounts(ctx, all)
}

// repeated returns the mailing that an author has created with the same clientTxnId.
func repeated(
	ctx context.Context, tx sqldb.Tx, author, clientTxnID, digest string,
) (m mailing.Mailing, found bool, err error) {
	var was string
	if found, err = sqldb.Read(ctx, tx, append(columns(&m), &was), stmt("mailing_repeated"), author, clientTxnID); err != nil {
		return m, found, err
	}
	if found && was != digest {
		return m, found, mailing.ErrKeyUsed
	}
	return m, found, nil
}

// insert stores a mailing; isNew is false if there is one with the same clientTxnId.
func insert(ctx context.Context, tx sqldb.Tx, m mailing.Mailing, clientTxnID, digest string) (isNew bool, err error) {
	segment, err := json.Marshal(m.Segment)
	if err != nil {
		return false, err
	}
	texts, err := json.Marshal(append([]mailing.Text{}, m.Texts...)) // never null
	if err != nil {
		return false, err
	}
	_, isNew, err = sqldb.One(ctx, tx, sqldb.Value[string], stmt("mailing_insert"), m.ID, clientTxnID, digest, string(m.Kind),
		sqldb.Flag(m.Preview), string(segment), string(texts), m.Matched, m.Excluded, m.CreatedAt.UnixMilli(), m.CreatedBy)
	return isNew, err
}

// Preview implements mailing.Store. Each language is a mailing of its own, because a mailing writes to a member once.
func (s *Store) Preview(ctx context.Context, by authz.Actor, m mailing.Mailing, digest string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var to recipient
		found, err := sqldb.Read(ctx, tx, []any{&to.user, &to.email}, stmt("author_select"), by.UserID)
		switch {
		case err != nil:
			return err
		case !found || to.email == "":
			return mailing.ErrOwnAddress
		}
		texts := [][]mailing.Text{nil}
		if m.Kind == mailing.News {
			texts = seq.Map(m.Texts, func(t mailing.Text) []mailing.Text { return []mailing.Text{t} })
		}
		for _, t := range texts {
			one := m
			one.ID, one.Texts, one.Matched = uid.New(m.CreatedAt), t, 1
			if _, err := insert(ctx, tx, one, one.ID, digest); err != nil {
				return err
			}
			queue(tx, one, []recipient{to}, m.CreatedAt)
		}
		return nil
	})
}

// columns are the fields of mailing_columns. The counts are those of purged recipients; addCounts adds the others.
func columns(m *mailing.Mailing) []any {
	return []any{
		&m.ID, &m.Kind, sqldb.Bool(&m.Preview), sqldb.JSON(&m.Segment), sqldb.JSON(&m.Texts), &m.State, &m.Matched, &m.Excluded,
		&m.Delivered, &m.Failed, &m.Skipped, sqldb.Time(&m.CreatedAt), &m.CreatedBy, sqldb.Time(&m.FinishedAt),
	}
}

// Mailings implements mailing.Store.
func (s *Store) Mailings(ctx context.Context, limit, offset int) ([]mailing.Mailing, int64, error) {
	all, total, err := sqldb.Page(ctx, s.db, sqldb.Row(columns), stmt("mailing_count"), stmt("mailing_list"), limit, offset)
	if err != nil {
		return nil, 0, err
	}
	return all, total, s.addCounts(ctx, all)
}

// addCounts counts the e-mails of mailings by their states.
func (s *Store) addCounts(ctx context.Context, all []mailing.Mailing) error {
	at := map[string]*mailing.Mailing{}
	for i := range all {
		m := &all[i]
		m.Queued = m.Delivered + m.Failed + m.Skipped
		at[m.ID] = m
	}
	ids := seq.Map(all, func(m mailing.Mailing) string { return m.ID })
	return sqldb.Each(ctx, s.db, func(r sqldb.Rows) error {
		var id, state string
		var n int64
		if err := r.Scan(&id, &state, &n); err != nil {
			return err
		}
		m := at[id]
		m.Queued += n
		switch state {
		case "SENT":
			m.Delivered += n
		case "FAILED":
			m.Failed += n
		case "SKIPPED":
			m.Skipped += n
		}
		return nil
	}, stmt("recipient_counts"), sqldb.IDs(ids))
}

// Cancel implements mailing.Store.
func (s *Store) Cancel(ctx context.Context, by authz.Actor, id string, now time.Time) (m mailing.Mailing, err error) {
	err = s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		m = mailing.Mailing{}
		found, err := sqldb.Read(ctx, tx, columns(&m), stmt("mailing_lock"), id)
		switch {
		case err != nil:
			return err
		case !found:
			return mailing.ErrMailing
		case m.State != mailing.Sending:
			return mailing.ErrEnded
		}
		tx.QueueExactly(1, stmt("mailing_cancel"), id, now.UnixMilli())
		tx.Queue(stmt("recipient_skip"), id)
		tx.Queue(stmt("recipient_unqueue"), id)
		m.State, m.FinishedAt = mailing.Canceled, now
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionMailingCanceled, "mailing", id, 0))
	})
	if err != nil {
		return m, err
	}
	all := []mailing.Mailing{m}
	err = s.addCounts(ctx, all)
	return all[0], err
}

// Recipient returns the recipient of a queued e-mail, for mailing.MessageComposer.
func (s *Store) Recipient(ctx context.Context, mailID string) (r mailing.Recipient, found bool, err error) {
	m := &r.Mailing
	found, err = sqldb.Read(ctx, s.db, []any{
		&m.Kind, sqldb.Bool(&m.Preview), sqldb.JSON(&m.Texts), &m.State, &r.UserID, &r.Name, &r.Email, sqldb.Bool(&r.Wanted),
	}, stmt("recipient_select"), mailID)
	return r, found, err
}

// Purge deletes previews that were made before a time.
func (s *Store) Purge(ctx context.Context, before time.Time) error {
	_, err := s.db.Exec(ctx, stmt("mailing_purge"), before.UnixMilli())
	return err
}

// purgeLimit is the number of recipients that one transaction deletes, so that its locks are short.
const purgeLimit = 2000

// PurgeRecipients deletes the recipients of mailings that finished before a time, and adds them to the counts of their
// mailings. A reminder to a member who has still not finished the registration stays (N3).
func (s *Store) PurgeRecipients(ctx context.Context, before time.Time) error {
	for {
		id, found, err := sqldb.One(ctx, s.db, sqldb.Value[string], stmt("mailing_purgeable"), before.UnixMilli())
		if err != nil || !found {
			return err
		}
		if err := s.purgeRecipients(ctx, id); err != nil {
			return err
		}
	}
}

// purgeRecipients deletes some recipients of a mailing. Its lock makes concurrent processes wait.
func (s *Store) purgeRecipients(ctx context.Context, id string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		var m mailing.Mailing
		if found, err := sqldb.Read(ctx, tx, columns(&m), stmt("mailing_lock"), id); err != nil || !found {
			return err
		}
		states, err := sqldb.Collect(ctx, tx, sqldb.Value[string], stmt("recipient_purge"), id, purgeLimit)
		if err != nil {
			return err
		}
		n := map[string]int64{}
		for _, state := range states {
			n[state]++
		}
		tx.QueueExactly(1, stmt("mailing_purged"), id, n["SENT"], n["FAILED"], n["SKIPPED"])
		return nil
	})
}

// MoveDeadlines shifts the times at which mailings continue after the deciding clock was set by that much.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("mailing_deadline_move"), by.Milliseconds())
}

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
	args, err := segmentArgs(ctx, tx, m.Segment, m.CreatedAt, after, m.CreatedAt.UnixMilli(), string(m.Kind), mailing.BatchSize)
	if err != nil {
		return 0, err
	}
	batch, err := sqldb.Collect(ctx, tx, sqldb.Row(func(r *recipient) []any {
		return []any{&r.user, &r.email, &r.locale}
	}), stmt("mailing_batch"), args...)
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
