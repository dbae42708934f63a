package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"comanda/internal/backoff"
	"comanda/internal/queue"
	"comanda/internal/seq"
	"comanda/internal/text"
)

const (
	// MaxAttempts is the number of times that a message is tried.
	MaxAttempts = 10

	// SendTimeout bounds one message, from dialling to the server's reply.
	SendTimeout = 30 * time.Second

	claimBatch = 10              // messages per claim
	claimLease = 2 * time.Minute // delay of the messages of a crashed process

	// minLease is the minimum time until the end of a claim with which a message is sent: sending it and recording the
	// result may take that long. After the end of the claim another process sends the message too.
	minLease = SendTimeout + settleTimeout + 10*time.Second
)

// retries spans about two hours, so that a greylisting or overloaded server gets the message without an operator.
var retries = queue.Policy{
	Policy: backoff.Policy{First: 15 * time.Second, Factor: 2, Max: time.Hour}, MaxAttempts: MaxAttempts,
}

// Sender sends the queued messages. Any number of processes may run one: the store's claims keep them from sending the
// same message, unless a claim has ended.
type Sender struct {
	Store     Store
	Transport Transport
	// From returns the sender of an e-mail about a branch, or for branch 0 of any other e-mail. If it is nil, the
	// transport's sender is used. If it returns an error, all e-mails are delayed.
	From    func(ctx context.Context, branch int64) (text.Mailbox, error)
	Decrypt func(fields map[string]string) (map[string]string, error) // decrypts encrypted fields; nil if there are none
	// OrderContent returns the content of an e-mail about an order, as the order is now. It returns ErrObsolete for an
	// e-mail that is no longer true and ErrRefused for one that can never be sent. Other errors delay all e-mails.
	OrderContent func(ctx context.Context, q QueuedMessage) (TemplateData, error)
	// MailingContent is OrderContent for MailingTemplates.
	MailingContent func(ctx context.Context, q QueuedMessage) (TemplateData, error)

	Now    func() time.Time
	Log    *slog.Logger
	Result func(result string) // counts results: sent, expired (also obsolete), failed, dead; may be nil
}

// RunOnce sends due messages until none is left. It returns an error when the server is unreachable.
func (s *Sender) RunOnce(ctx context.Context) error {
	for {
		now := s.Now()
		until := now.Add(claimLease)
		messages, err := s.Store.Claim(ctx, now, until, claimBatch)
		if err != nil {
			return err
		}
		whole := len(messages) < claimBatch
		for i, m := range messages {
			// A slow server may use up the claim for a part of the batch. The other messages are claimed again.
			if until.Sub(s.Now()) < minLease {
				if err := s.release(ctx, messages[i:]); err != nil {
					return err
				}
				whole = false
				break
			}
			if err := s.process(ctx, m); err != nil {
				return errors.Join(err, s.release(ctx, messages[i+1:]))
			}
		}
		if whole {
			return nil
		}
	}
}

// process sends one message and stores the result. An error ends the run.
func (s *Sender) process(ctx context.Context, q QueuedMessage) error {
	// An expired code would only mislead its recipient (E1).
	if !s.Now().Before(q.Expires) {
		s.report(ctx, "expired", q, nil)
		return s.Store.Settle(ctx, q, false)
	}
	from, err := s.sender(ctx, q.Branch)
	if err != nil {
		return errors.Join(err, s.release(ctx, []QueuedMessage{q}))
	}
	m, err := s.compose(ctx, q)
	switch {
	case errors.Is(err, ErrObsolete):
		s.report(ctx, "expired", q, nil)
		return s.Store.Settle(ctx, q, false)
	case err != nil && !errors.Is(err, ErrRefused):
		return errors.Join(err, s.release(ctx, []QueuedMessage{q}))
	case err == nil:
		m.From = from
		err = s.send(ctx, m)
	}
	// A sent message must be recorded even if ctx has ended.
	settled, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	switch {
	case err == nil:
		s.report(ctx, "sent", q, nil)
		return s.Store.Settle(settled, q, true)
	// The cause is not the message, so no attempt is counted (E2).
	case errors.Is(err, ErrUnreachable), ctx.Err() != nil:
		return errors.Join(err, s.release(ctx, []QueuedMessage{q}))
	}
	now, result := s.Now(), "failed"
	failure := retries.Failed(q.ID, q.Attempts, q.Attempts, now, err)
	if failure.Dead = failure.Dead || errors.Is(err, ErrRefused); failure.Dead {
		result = "dead"
	}
	s.report(ctx, result, q, err)
	return s.Store.RecordFailures(settled, now, failure)
}

// send bounds a transport's work by SendTimeout.
func (s *Sender) send(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	return s.Transport.Send(ctx, m)
}

// sender returns the sender of an e-mail.
func (s *Sender) sender(ctx context.Context, branch int64) (text.Mailbox, error) {
	if s.From == nil {
		return text.Mailbox{}, nil
	}
	return s.From(ctx, branch)
}

// settleTimeout bounds the write of a result. It is short, because a shutdown waits for it; if it passes, the claim
// ends and the message is sent again.
const settleTimeout = 5 * time.Second

// compose fills a message's template. ErrRefused and ErrObsolete are permanent.
func (s *Sender) compose(ctx context.Context, q QueuedMessage) (Message, error) {
	c, err := s.content(ctx, q)
	if err != nil {
		return Message{}, err
	}
	m, err := c.Render(q.Template, q.Locale)
	if err != nil {
		return Message{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	m.ID, m.To, m.Date, m.Unsubscribe = q.ID, q.Recipient, s.Now(), c.Unsubscribe
	return m, nil
}

// content returns what fills a message's template: its order, or its own fields, decrypted.
func (s *Sender) content(ctx context.Context, q QueuedMessage) (TemplateData, error) {
	if q.OrderID != "" && s.OrderContent != nil {
		return s.OrderContent(ctx, q)
	}
	if slices.Contains(MailingTemplates(), q.Template) && s.MailingContent != nil {
		return s.MailingContent(ctx, q)
	}
	fields := q.Fields
	if s.Decrypt != nil {
		var err error
		if fields, err = s.Decrypt(q.Fields); err != nil {
			return TemplateData{}, fmt.Errorf("%w: its fields cannot be decrypted", ErrRefused) // E3: the cause may contain them
		}
	}
	return TemplateData{Fields: fields}, nil
}

// release makes claimed messages due again without counting the attempt (E2). It runs after an error and after the end of
// ctx as well, so that the rest of a claimed batch need not wait for the end of the claim.
func (s *Sender) release(ctx context.Context, messages []QueuedMessage) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	now := s.Now()
	return s.Store.RecordFailures(ctx, now, seq.Map(messages, func(q QueuedMessage) queue.Failure {
		return queue.Released(q.ID, q.Attempts, now)
	})...)
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
