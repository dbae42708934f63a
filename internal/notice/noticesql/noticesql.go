// Package noticesql stores notices and their deliveries in SQL.
package noticesql

import (
	"context"
	"embed"
	"encoding/json"
	"time"

	"comanda/internal/notice"
	"comanda/internal/queue/queuesql"
	"comanda/internal/seq"
	"comanda/internal/sqldb"
)

//go:embed *.sql
var files embed.FS

var stmts = sqldb.Load(files)

// stmt returns a statement by its name in the .sql files. A test in package arch checks all names.
var stmt = stmts.Must

var deliveries = queuesql.New(queuesql.Spec{
	Table: "push_outbox", Columns: "id, subscription_id, payload, urgency, expires_at, attempts", Due: "available_at",
	Order: "available_at, id", Since: "available_at", Pending: "dead = 0",
	Outcome: "last_error = r.reason, dead = CASE r.died WHEN 0 THEN 0 ELSE 1 END",
}, sqldb.Row(func(d *notice.Delivery) []any {
	return []any{&d.ID, &d.Subscription, &d.Payload, &d.Urgency, sqldb.Time(&d.Expires), &d.Attempts}
}))

// Store is notice.Store and notice.PushStore on a database.
type Store struct {
	queuesql.Queue[notice.Delivery]

	db *sqldb.DB
}

// New returns a store on a database.
func New(db *sqldb.DB) *Store { return &Store{deliveries.On(db), db} }

// visible returns the arguments of the fragment visible.
func visible(r notice.Reader, more ...any) []any {
	text := func(a notice.Audience) string { return string(a) }
	kind := func(k notice.Kind) string { return string(k) }
	return append([]any{sqldb.IDs(seq.Map(r.Audiences, text)), sqldb.IDs(seq.Map(r.Kinds, kind)), r.ID}, more...)
}

// List implements notice.Store.
func (s *Store) List(ctx context.Context, r notice.Reader, before string, limit int) ([]notice.UserNotice, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(n *notice.UserNotice) []any {
		return []any{
			&n.ID, &n.Audience, &n.Kind, &n.EventID, &n.Branch, sqldb.NullText(&n.OrderID), sqldb.JSON(&n.Data),
			sqldb.Time(&n.CreatedAt), sqldb.Bool(&n.Read),
		}
	}), stmt("notice_list"), visible(r, before, limit)...)
}

// State implements notice.Store.
func (s *Store) State(ctx context.Context, r notice.Reader) (v notice.State, err error) {
	_, err = sqldb.Read(ctx, s.db, []any{&v.Newest, &v.Unread, &v.Listed}, stmt("notice_state"),
		visible(r, notice.MaxUnread, notice.FirstPage)...)
	return v, err
}

// MarkRead implements notice.Store.
func (s *Store) MarkRead(ctx context.Context, r notice.Reader, id string, now time.Time) error {
	n, err := sqldb.Scalar[int64](ctx, s.db, stmt("notice_seen"), visible(r, id)...)
	if err != nil {
		return err
	}
	if n == 0 {
		return notice.ErrNotice
	}
	_, err = s.db.Exec(ctx, stmt("notice_read_one"), r.ID, id, now.UnixMilli())
	return err
}

// MarkAllRead implements notice.Store.
func (s *Store) MarkAllRead(ctx context.Context, r notice.Reader, upTo string, now time.Time) error {
	_, err := s.db.Exec(ctx, stmt("notice_read_all"), visible(r, upTo, now.UnixMilli())...)
	return err
}

// Choices implements notice.Store.
func (s *Store) Choices(ctx context.Context, reader string) ([]notice.Choice, error) {
	return sqldb.Collect(ctx, s.db, sqldb.Row(func(c *notice.Choice) []any {
		return []any{&c.Kind, sqldb.Bool(&c.Bell), sqldb.Bool(&c.Push)}
	}), stmt("choice_list"), reader)
}

// SetChoices implements notice.Store.
func (s *Store) SetChoices(ctx context.Context, reader string, all []notice.Choice, now time.Time) error {
	if len(all) == 0 {
		return nil
	}
	_, err := s.db.Exec(ctx, stmt("choice_put"), reader, sqldb.NewRowSet(len(all)).
		Text("kind", func(i int) string { return string(all[i].Kind) }).
		Int("bell", func(i int) int64 { return sqldb.Flag(all[i].Bell) }).
		Int("push", func(i int) int64 { return sqldb.Flag(all[i].Push) }), now.UnixMilli())
	return err
}

// Subscribe implements notice.Store.
func (s *Store) Subscribe(ctx context.Context, b notice.Subscription, limit int) error {
	session := &b.Session
	if b.Session == "" {
		session = nil
	}
	return s.db.Write(ctx, func(_ context.Context, tx sqldb.Tx) error {
		tx.Queue(stmt("subscription_put"), b.ID, b.Reader, string(b.Audience), session, b.Endpoint, b.P256dh, b.Auth, b.Locale,
			b.Created.UnixMilli())
		tx.Queue(stmt("subscription_trim"), b.Reader, limit)
		return nil
	})
}

// Unsubscribe implements notice.Store.
func (s *Store) Unsubscribe(ctx context.Context, reader, id string) error {
	_, err := s.db.Exec(ctx, stmt("subscription_delete"), id, reader)
	return err
}

// Subscription implements notice.PushStore.
func (s *Store) Subscription(ctx context.Context, id string, now time.Time) (b notice.Subscription, found bool, err error) {
	found, err = sqldb.Read(ctx, s.db, []any{
		&b.ID, &b.Reader, &b.Audience, &b.Session, &b.Endpoint, &b.P256dh, &b.Auth, &b.Locale, sqldb.Time(&b.Created),
	}, stmt("subscription_select"), id, now.UnixMilli())
	return b, found, err
}

// DeleteSubscription implements notice.PushStore.
func (s *Store) DeleteSubscription(ctx context.Context, id string) error {
	_, err := s.db.Exec(ctx, stmt("subscription_gone"), id)
	return err
}

// PushKey returns the installation's key for Web Push. fresh makes one, which is stored unless there is one already: when
// several processes start at once, all use the same.
func (s *Store) PushKey(ctx context.Context, fresh func() (string, error)) (string, error) {
	key, found, err := sqldb.One(ctx, s.db, sqldb.Value[string], stmt("push_key_select"))
	if err != nil || found {
		return key, err
	}
	if key, err = fresh(); err != nil {
		return "", err
	}
	if _, err := s.db.Exec(ctx, stmt("push_key_insert"), key, s.db.Now().UnixMilli()); err != nil {
		return "", err
	}
	return sqldb.Scalar[string](ctx, s.db, stmt("push_key_select"))
}

// Retention are the ages at which rows are deleted.
type Retention struct{ Personal, Staff, Guests, Dead time.Duration }

// Purge deletes rows past their retention: notices with their read marks, guests' choices and subscriptions, and dead
// deliveries. Members' subscriptions are deleted with their login.
func (s *Store) Purge(ctx context.Context, now time.Time, keep Retention) error {
	before := func(age time.Duration) int64 { return now.Add(-age).UnixMilli() }
	for _, p := range []struct {
		q    *sqldb.Stmt
		args []any
	}{
		{stmt("notice_purge"), []any{before(keep.Personal)}},
		{stmt("notice_purge_staff"), []any{before(keep.Staff)}},
		// A read mark is needed as long as its notice, which is older.
		{stmt("notice_purge_reads"), []any{before(keep.Personal)}},
		{stmt("choice_purge_guests"), []any{before(keep.Guests)}},
		{stmt("subscription_purge"), []any{before(keep.Guests), now.UnixMilli()}},
		{stmt("push_purge"), []any{before(keep.Dead)}},
	} {
		if _, err := s.db.Exec(ctx, p.q, p.args...); err != nil {
			return err
		}
	}
	return nil
}

// MoveDeadlines shifts the due and expiry times of queued deliveries after the deciding clock was set by that much.
func MoveDeadlines(ctx context.Context, tx sqldb.Tx, by time.Duration) (int64, error) {
	return tx.Exec(ctx, stmt("push_deadline_move"), by.Milliseconds())
}

// dataText returns the JSON of a value of this package's rows.
func dataText(v any) string {
	text, _ := json.Marshal(v) // texts and integers always marshal
	return string(text)
}
