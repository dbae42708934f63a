package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/queue"
)

const (
	// MaxAttempts is how often a message is tried.
	MaxAttempts = 10

	claimBatch = 10              // messages per claim
	claimLease = 2 * time.Minute // far longer than a batch takes to send; a crashed process's messages wait that long
)

// retries spans about three hours, so that a greylisting or overloaded server gets the message without an operator.
var retries = queue.Policy{
	Policy: backoff.Policy{First: 15 * time.Second, Factor: 2, Max: time.Hour}, MaxAttempts: MaxAttempts,
}

// Sender sends the queued messages. Any number of processes may run one: the store's claims keep them from sending the
// same message, unless a claim has ended.
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
		messages, err := s.Store.Claim(ctx, now, now.Add(claimLease), claimBatch)
		if err != nil {
			return err
		}
		for i, m := range messages {
			if err := s.process(ctx, m); err != nil {
				return errors.Join(err, s.release(ctx, messages[i+1:]))
			}
		}
		if len(messages) < claimBatch {
			return nil
		}
	}
}

// process sends one message and stores the result. An error ends the run.
func (s *Sender) process(ctx context.Context, q QueuedMessage) error {
	// An expired code would only mislead its recipient (E1).
	if !s.Now().Before(q.Expires) {
		s.report(ctx, "expired", q, nil)
		return s.Store.DeleteQueued(ctx, []string{q.ID})
	}
	m, err := s.compose(q)
	if err == nil {
		err = s.Transport.Send(ctx, m)
	}
	// A sent message must be recorded even if ctx has ended.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	switch {
	case err == nil:
		s.report(ctx, "sent", q, nil)
		return s.Store.DeleteQueued(settled, []string{q.ID})
	// Neither says anything about the message, so no attempt is counted (E2).
	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:
		return errors.Join(err, s.release(settled, []QueuedMessage{q}))
	}
	now, result := s.Now(), "failed"
	failure := retries.Failed(q.ID, q.Attempts, q.Attempts, now, err)
	if failure.Dead = failure.Dead || errors.Is(err, ErrRefused); failure.Dead {
		result = "dead"
	}
	s.report(ctx, result, q, err)
	return s.Store.RecordFailures(settled, now, failure)
}

// settleTimeout bounds the write of a result. It is short, because a shutdown waits for it; if it passes, the claim
// ends and the message is sent again.
const settleTimeout = 5 * time.Second

// compose unseals a message and fills its template. Failures are permanent.
func (s *Sender) compose(q QueuedMessage) (Message, error) {
	fields := q.Fields
	if s.Unseal != nil {
		var err error
		if fields, err = s.Unseal(q.Fields); err != nil {
			return Message{}, fmt.Errorf("%w: its fields cannot be unsealed", ErrRefused) // E3: the cause may contain them
		}
	}
	m, err := Render(q.Template, q.Locale, fields)
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	m.ID, m.To, m.Date = q.ID, q.Recipient, s.Now()
	return m, nil
}

// release makes claimed messages due again without counting the attempt (E2). It runs after an error as well, so that
// the rest of a claimed batch need not wait for the end of the claim.
func (s *Sender) release(ctx context.Context, messages []QueuedMessage) error {
	now := s.Now()
	released := make([]queue.Failure, len(messages))
	for i, q := range messages {
		released[i] = queue.Released(q.ID, q.Attempts, now)
	}
	return s.Store.RecordFailures(ctx, now, released...)
}

// report counts and logs the result of a message. It logs neither its content nor its recipient.
func (s *Sender) report(ctx context.Context, result string, q QueuedMessage, err error) {
	if s.Result != nil {
		s.Result(result)
	}
	level := slog.LevelInfo
	attrs := []any{"letter", q.ID, "template", q.Template, "locale", q.Locale, "attempt", q.Attempts, "result", result}
	if err != nil {
		level = slog.LevelWarn
		attrs = append(attrs, "err", err)
	}
	s.Log.Log(ctx, level, "mail", attrs...)
}
