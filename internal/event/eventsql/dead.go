package eventsql

import (
	"context"
	"strings"
	"time"

	"comanda/internal/event"
	"comanda/internal/sqldb"
)

// maxReason bounds how much of an error's text is kept.
const maxReason = 1000

// DeadLetter is an event that was given up.
type DeadLetter struct {
	event.Event
	Consumer string // whose; empty for the relay
	Reason   string // the last error
	DiedAt   time.Time
}

// Filter selects dead letters of one consumer; empty fields select all.
type Filter struct {
	Consumer string // empty is the relay itself
	Type     string
	ID       string
}

// Count is how many dead letters a consumer has.
type Count struct {
	Consumer string `json:"consumer"`
	Letters  int64  `json:"letters"`
}

// Bury queues the insertion of dead letters. One that is there already gets the newer reason.
func Bury(tx sqldb.Tx, letters []DeadLetter) {
	if len(letters) == 0 {
		return
	}
	rows := RowSet(letters, func(l DeadLetter) event.Event { return l.Event }).
		Text("consumer_name", func(i int) string { return letters[i].Consumer }).
		Text("reason", func(i int) string { return Reason(letters[i].Reason) }).
		Int("died_at", func(i int) int64 { return letters[i].DiedAt.UnixMilli() })
	tx.Queue(deadInsert, rows)
}

// Reason makes an error's text fit to be stored: bounded, and without the bytes that PostgreSQL refuses in text.
func Reason(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	if len(s) > maxReason {
		s = strings.ToValidUTF8(s[:maxReason], "")
	}
	return s
}

// DeadLetters reads up to limit letters in the order of their ids, beginning after an id (empty for the first page).
func DeadLetters(ctx context.Context, conn sqldb.Conn, f Filter, after string, limit int) ([]DeadLetter, error) {
	rows, err := conn.Query(ctx, deadSelect, f.Consumer, f.Type, f.ID, after, limit)
	return sqldb.Collect(rows, err, scanDead)
}

// Exhume deletes a consumer's dead letters and gives those that were still there.
func Exhume(ctx context.Context, tx sqldb.Tx, consumer string, letters []DeadLetter) ([]DeadLetter, error) {
	ids := sqldb.NewRowSet(len(letters)).Text("id", func(i int) string { return letters[i].ID })
	rows, err := tx.Query(ctx, deadDelete, ids, consumer)
	return sqldb.Collect(rows, err, scanDead)
}

// CountDead counts dead letters by consumer.
func CountDead(ctx context.Context, conn sqldb.Conn) ([]Count, error) {
	rows, err := conn.Query(ctx, deadSummary)
	return sqldb.Collect(rows, err, func(r sqldb.Rows) (c Count, err error) {
		err = r.Scan(&c.Consumer, &c.Letters)
		return c, err
	})
}

func scanDead(r sqldb.Rows) (l DeadLetter, err error) {
	var died int64
	l.Event, err = Scan(r, &l.Consumer, &l.Reason, &died)
	l.DiedAt = time.UnixMilli(died).UTC()
	return l, err
}
