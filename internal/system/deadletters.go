package system

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"comanda/internal/audit"
	"comanda/internal/audit/auditsql"
	"comanda/internal/authz"
	"comanda/internal/document/documentsql"
	"comanda/internal/event/eventsql"
	"comanda/internal/event/inbox"
	"comanda/internal/event/outbox"
	"comanda/internal/mail"
	"comanda/internal/mail/mailsql"
	"comanda/internal/queue"
	"comanda/internal/sqldb"
	"comanda/internal/stock/stocksql"
)

// Outbox returns the state of the queues. It reads without locks, so that the figures may be of slightly different
// moments.
func (s *Service) Outbox(ctx context.Context) (Outbox, error) {
	events, err := outbox.ReadStatus(ctx, s.DB)
	if err != nil {
		return Outbox{}, err
	}
	o := Outbox{
		Pending: events.Pending, OldestAgeSeconds: events.OldestAgeSeconds, ByType: events.ByType, Dead: events.Dead,
	}
	now := s.DB.Now()
	// The rate is counted in the log, because each process's metrics cover only its own events.
	if o.PublishedPerMinute, err = outbox.CountPublished(ctx, s.DB, now.Add(-time.Minute)); err != nil {
		return o, err
	}
	if o.LastHour, err = outbox.CountStates(ctx, s.DB, now.Add(-time.Hour)); err != nil {
		return o, err
	}
	changes, err := stocksql.New(s.DB).Backlog(ctx, now)
	if err != nil {
		return o, err
	}
	o.Redis = Redis{
		Pending: changes.Pending, OldestAgeSeconds: changes.Age.Seconds(), Dead: changes.Dead,
		DeadAgeSeconds: changes.DeadAge.Seconds(),
	}
	documents, err := documentsql.New(s.DB).Backlog(ctx, now)
	o.Documents = Documents{Pending: documents.Pending, OldestAgeSeconds: documents.Age.Seconds()}
	if last, ok := s.lastVerified(ctx); ok {
		o.Documents.VerifiedAt, o.Documents.Differences = &last.At, last.Differences()
	}
	return o, err
}

// DeadLetters returns a page of dead letters with secrets masked, newest first, and their total number. Letters of
// Redis are in another table, so one page never has both.
func (s *Service) DeadLetters(
	ctx context.Context, f DeadLetterFilter,
) (page []queue.DeadLetter, total int64, err error) {
	of := eventsql.Filter{Consumer: f.Consumer, Type: f.Type, ID: f.ID}
	switch {
	case f.Consumer == queue.RedisConsumer && f.Type != "": // its rows are not events
		return nil, 0, nil
	case f.Consumer == queue.RedisConsumer:
		page, total, err = stocksql.New(s.DB).DeadLetters(ctx, f.ID, f.Limit, f.Offset)
	default:
		if f.Consumer == queue.RelayConsumer {
			of.Consumer = ""
		}
		page, total, err = eventsql.DeadLetterPage(ctx, s.DB, of, f.Consumer == "", f.Limit, f.Offset)
	}
	for i := range page {
		page[i].Payload = Masked(page[i].Payload)
	}
	return page, total, err
}

// Replay replays one dead letter for every consumer that failed on it.
func (s *Service) Replay(ctx context.Context, by authz.Actor, id string) (Replayed, error) {
	return exclusive(s, func() (Replayed, error) {
		sum, err := s.ReplayWhere(ctx, DeadLetterFilter{ID: id})
		// Another operator may have replayed the dead letter since it was listed.
		if err == nil && sum.Sum() == 0 {
			return sum, ErrLetter
		}
		if err != nil {
			return sum, err
		}
		return sum, s.record(ctx, by, audit.ActionReplayed, "deadLetter", id, sum)
	})
}

// ReplayAll replays the newest MaxReplayed of the selected dead letters, and returns how many are left, including those
// that failed again.
func (s *Service) ReplayAll(
	ctx context.Context, by authz.Actor, f DeadLetterFilter,
) (sum Replayed, left int64, err error) {
	left, err = exclusive(s, func() (int64, error) {
		f.Limit, f.Offset = MaxReplayed, 0
		page, _, err := s.DeadLetters(ctx, f)
		if err != nil {
			return 0, err
		}
		// Dead letters are replayed one by one, so that exactly the listed ones are replayed and the limit applies.
		for _, l := range page {
			one, err := s.ReplayWhere(ctx, DeadLetterFilter{Consumer: l.Consumer, ID: l.ID})
			sum = sum.plus(one)
			if err != nil {
				return 0, err
			}
		}
		// The whole call has one audit entry; a call that replayed nothing has none.
		if sum.Sum() > 0 {
			if err := s.record(ctx, by, audit.ActionReplayed, "deadLetter", "all", sum); err != nil {
				return 0, err
			}
		}
		f.Limit = 1
		_, left, err := s.DeadLetters(ctx, f)
		return left, err
	})
	return sum, left, err
}

// ReplayWhere replays all selected dead letters: those of the relay return to the outbox, those of a consumer are
// applied by the consumer, and changes that Redis has rejected are queued again. A dead letter that fails again
// stays.
func (s *Service) ReplayWhere(ctx context.Context, f DeadLetterFilter) (sum Replayed, err error) {
	if f.Type == "" && (f.Consumer == "" || f.Consumer == queue.RedisConsumer) {
		n, err := stocksql.New(s.DB).RetryDead(ctx, f.ID)
		sum.Revived = int(n)
		if err != nil || f.Consumer == queue.RedisConsumer {
			return sum, err
		}
	}
	filter := eventsql.Filter{Type: f.Type, ID: f.ID}
	known := f.Consumer == "" || f.Consumer == queue.RelayConsumer
	if known {
		if sum.Relayed, err = outbox.Replay(ctx, s.DB, filter); err != nil {
			return sum, err
		}
	}
	// The inbox has no log and no metrics: the operator gets the result.
	in := inbox.New(s.DB, inbox.Options{})
	for _, c := range s.Consumers {
		if f.Consumer != "" && f.Consumer != c.Name {
			continue
		}
		known = true
		r, err := in.Replay(ctx, c, filter)
		sum.Applied += r.Applied
		sum.Failed += r.Failed
		if err != nil {
			return sum, err
		}
	}
	if !known {
		return sum, fmt.Errorf("%q is not a consumer", f.Consumer)
	}
	return sum, nil
}

// hidden replaces a secret.
const hidden = "[redacted]"

// secret matches names of members that may contain secrets in messages of other systems. It matches too many rather
// than too few: "otp" and "private" match anywhere in a name.
var secret = regexp.MustCompile(`(?i)pass(word|wd|phrase)|secret|token|authori[sz]ation|cookie|signature|` +
	`api[_-]?key|private|credential|otp|cvv|cvc|(card|pan)[_-]?(number|no)|secure[_-]?hash`)

// Masked returns a payload without the values of members whose names indicate a secret, at any depth. A payload that is
// not JSON is not shown, because its content is unknown.
func Masked(payload json.RawMessage) json.RawMessage {
	var v any
	d := json.NewDecoder(bytes.NewReader(payload))
	d.UseNumber() // numbers keep their exact form
	if err := d.Decode(&v); err != nil || d.More() {
		return json.RawMessage(`"[not JSON]"`)
	}
	text, err := json.Marshal(mask(v))
	if err != nil {
		return json.RawMessage(`"[not JSON]"`)
	}
	return text
}

// mask changes the decoded value in place. A secret member is replaced as a whole, whatever it contains.
func mask(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if secret.MatchString(name) {
				v[name] = hidden
			} else {
				v[name] = mask(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i])
		}
	}
	return v
}

// Mail returns a page of the e-mails that wait or failed, newest first, and their total number. An empty state selects
// both.
func (s *Service) Mail(ctx context.Context, state mail.State, limit, offset int) ([]mail.Entry, int64, error) {
	return mailsql.List(ctx, s.DB, state, limit, offset)
}

// SendMailAgain makes an e-mail due at once, as if it had not been tried. If it is being sent at this moment, its
// recipient may get it twice, with the same Message-ID.
func (s *Service) SendMailAgain(ctx context.Context, by authz.Actor, id string) error {
	return s.DB.Write(ctx, func(ctx context.Context, tx sqldb.Tx) error {
		now := s.DB.Now()
		template, err := mailsql.SendAgain(ctx, tx, id, now)
		if err != nil {
			return err
		}
		return auditsql.Record(ctx, tx, audit.NewEntry(by, now, audit.ActionMailAgain, "mail", id, 0).
			WithAfter(map[string]string{"template": template}))
	})
}
