package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// MaxAttempts is how often a message is tried.
	MaxAttempts = 10

	claimBatch   = 10              // messages per claim
	claimLease   = 2 * time.Minute // far longer than a batch takes to send; a crashed process's messages wait that long
	firstBackoff = 15 * time.Second
	maxBackoff   = time.Hour
)

// Sender sends the queued messages.
type Sender struct {
	Store     Store
	Transport Transport
	Unseal    func(fields map[string]string) (map[string]string, error) // unseals sealed fields; nil if there are none
	Now       func() time.Time
	Log       *slog.Logger
	Result    func(result string) // counts results: sent, expired, failed, dead; may be nil
}

// RunOnce sends due messages until none is left. It returns an error when the server is unreachable.
func (s *Sender) RunOnce(ctx context.Context) error {
	for {
		now := s.Now()
		letters, err := s.Store.Claim(ctx, now, now.Add(claimLease), claimBatch)
		if err != nil {
			return err
		}
		for i, l := range letters {
			if err := s.process(ctx, l); err != nil {
				return errors.Join(err, s.release(ctx, letters[i+1:]))
			}
		}
		if len(letters) < claimBatch {
			return nil
		}
	}
}

// process sends one message and stores the result. An error ends the run.
func (s *Sender) process(ctx context.Context, l QueuedMessage) error {
	if !s.Now().Before(l.Expires) {
		s.report(ctx, "expired", l, nil)
		return s.Store.Delete(ctx, []string{l.ID})
	}
	m, err := s.compose(l)
	if err == nil {
		err = s.Transport.Send(ctx, m)
	}
	// A sent message must be recorded even if ctx has ended.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	switch {
	case err == nil:
		s.report(ctx, "sent", l, nil)
		return s.Store.Delete(settled, []string{l.ID})
	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:
		return errors.Join(err, s.release(settled, []QueuedMessage{l}))
	case errors.Is(err, ErrRefused), l.Attempts >= MaxAttempts:
		s.report(ctx, "dead", l, err)
		return s.Store.DeadLetter(settled, l.ID, err.Error())
	}
	s.report(ctx, "failed", l, err)
	return s.Store.Retry(settled, l.ID, s.Now().Add(backoff(l.Attempts)), l.Attempts, err.Error())
}

// settleTimeout bounds the write of a result.
const settleTimeout = 5 * time.Second

// compose unseals a message and fills its template. Failures are permanent.
func (s *Sender) compose(l QueuedMessage) (Message, error) {
	fields := l.Fields
	if s.Unseal != nil {
		var err error
		if fields, err = s.Unseal(l.Fields); err != nil {
			return Message{}, fmt.Errorf("%w: its fields cannot be unsealed", ErrRefused) // E3: the cause may contain them
		}
	}
	m, err := Render(l.Template, l.Locale, fields)
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	m.ID, m.To, m.Date = l.ID, l.Recipient, s.Now()
	return m, nil
}

// release makes claimed messages due again without counting the attempt (E2).
func (s *Sender) release(ctx context.Context, letters []QueuedMessage) error {
	var errs []error
	for _, l := range letters {
		errs = append(errs, s.Store.Retry(ctx, l.ID, s.Now(), l.Attempts-1, ""))
	}
	return errors.Join(errs...)
}

// report counts and logs the result of a message. It logs neither its content nor its recipient.
func (s *Sender) report(ctx context.Context, result string, l QueuedMessage, err error) {
	if s.Result != nil {
		s.Result(result)
	}
	level := slog.LevelInfo
	attrs := []any{"letter", l.ID, "template", l.Template, "locale", l.Locale, "attempt", l.Attempts, "result", result}
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, "err", err)
	}
	s.Log.Log(ctx, level, "mail", attrs...)
}

// backoff returns the delay before the next attempt: firstBackoff, doubled per attempt up to maxBackoff.
func backoff(attempts int) time.Duration {
	d := firstBackoff
	for range attempts - 1 {
		d = min(2*d, maxBackoff)
	}
	return d
}
