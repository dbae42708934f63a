package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// MaxAttempts is how often a letter is tried.
	MaxAttempts = 10

	batch     = 10
	claimFor  = 2 * time.Minute // far longer than a batch may take; a letter of a process that died waits for so long
	firstWait = 15 * time.Second
	longest   = time.Hour
)

// Sender sends letters.
type Sender struct {
	Store  Store
	Post   Post
	Open   func(fields map[string]string) (map[string]string, error) // opens sealed fields; nil: there are none
	Now    func() time.Time
	Log    *slog.Logger
	Result func(result string) // counts letters: sent, expired, failed, dead; may be nil
}

// RunOnce sends what is due, until nothing is left. A server that is out of reach ends it with an error.
func (s *Sender) RunOnce(ctx context.Context) error {
	for {
		now := s.Now()
		letters, err := s.Store.Claim(ctx, now, now.Add(claimFor), batch)
		if err != nil {
			return err
		}
		for i, l := range letters {
			if err := s.deliver(ctx, l); err != nil {
				return errors.Join(err, s.release(ctx, letters[i+1:]))
			}
		}
		if len(letters) < batch {
			return nil
		}
	}
}

// deliver settles one letter; an error ends the round.
func (s *Sender) deliver(ctx context.Context, l Letter) error {
	if !s.Now().Before(l.Expires) {
		s.count(ctx, "expired", l, nil)
		return s.Store.Done(ctx, []string{l.ID})
	}
	m, err := s.compose(l)
	if err == nil {
		err = s.Post.Send(ctx, m)
	}
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout) // what was sent must be noted
	defer cancel()
	switch {
	case err == nil:
		s.count(ctx, "sent", l, nil)
		return s.Store.Done(settled, []string{l.ID})
	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:
		return errors.Join(err, s.release(settled, []Letter{l}))
	case errors.Is(err, ErrRefused), l.Attempts >= MaxAttempts:
		s.count(ctx, "dead", l, err)
		return s.Store.Bury(settled, l.ID, err.Error())
	}
	s.count(ctx, "failed", l, err)
	return s.Store.Later(settled, l.ID, s.Now().Add(wait(l.Attempts)), l.Attempts, err.Error())
}

const settleTimeout = 5 * time.Second

// compose opens the letter and fills its template. What cannot be composed today cannot be tomorrow.
func (s *Sender) compose(l Letter) (Message, error) {
	fields := l.Fields
	if s.Open != nil {
		var err error
		if fields, err = s.Open(l.Fields); err != nil {
			return Message{}, fmt.Errorf("%w: its fields cannot be opened", ErrRefused) // E3: not a word of theirs
		}
	}
	m, err := Render(l.Template, l.Locale, fields)
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	m.ID, m.To, m.Date = l.ID, l.Recipient, s.Now()
	return m, nil
}

// release gives back what was claimed and not tried (E2).
func (s *Sender) release(ctx context.Context, letters []Letter) error {
	var errs []error
	for _, l := range letters {
		errs = append(errs, s.Store.Later(ctx, l.ID, s.Now(), l.Attempts-1, ""))
	}
	return errors.Join(errs...)
}

// count tells what became of a letter, without a word of what stands in it or whom it is for.
func (s *Sender) count(ctx context.Context, result string, l Letter, err error) {
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

// wait doubles from firstWait on.
func wait(attempts int) time.Duration {
	d := firstWait
	for range attempts - 1 {
		d = min(2*d, longest)
	}
	return d
}
