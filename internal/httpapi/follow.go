package httpapi

import (
	"context"
	"math/rand/v2"
	"time"

	"comanda/internal/fault"
)

const (
	// A stream polls every quietPoll to twice quietPoll while notifications of changes arrive. That limits the delay if one
	// is lost, or if a program changes the database without sending any. At this interval polling costs less than the
	// heartbeats.
	quietPoll = 15 * time.Second
	// AccountCheck is Followed.Check of streams of accounts. A process reads revocations each second, so a revoked session
	// receives events for at most six seconds more. The check needs no store.
	AccountCheck = 5 * time.Second
	// GuestCheck is Followed.Check of streams of guests. It reads Redis, so it is made when a heartbeat wakes the stream
	// anyway. Guests whose visit was closed may read their orders for much longer than that.
	GuestCheck = 15 * time.Second
	// pollSlot is the distance of the instants at which streams wake up without a change. Streams that wake together
	// share statements and round trips; more of them at once would delay requests.
	pollSlot = 250 * time.Millisecond
)

// Followed is a state that a stream shows.
type Followed struct {
	Changed <-chan struct{} // receives when the state may have changed
	Poll    time.Duration   // interval of Show without a notification, while notifications may be lost
	// Admit returns the context for Show, or the reason why the client may no longer read. It is called before each Show
	// but the first.
	Admit func(ctx context.Context) (context.Context, error)
	Check time.Duration // longest time between two calls of Admit
	// Show reads the state and sends it if the client does not have it. After an error of kind Unavailable it is called
	// again after Poll; any other error ends the stream.
	Show func(ctx context.Context) error
}

// Follow shows a state now and after every change. It returns when the client disconnects, the server stops, or access
// ends. An outage does not end streams, because all clients would reconnect at once: they keep the last state.
func (s *Stream) Follow(ctx context.Context, f Followed) {
	for now := ctx; ; {
		err := f.Show(now)
		if err != nil && fault.KindOf(err) != fault.Unavailable {
			return
		}
		if now, err = s.wait(ctx, f, s.pollInterval(f.Poll, err != nil)); err != nil {
			return
		}
	}
}

// pollInterval returns the interval until the next Show without a notification. After a failure streams retry at the
// short interval.
func (s *Stream) pollInterval(short time.Duration, failed bool) time.Duration {
	notified := !failed && s.s.Notified != nil && s.s.Notified()
	return pollInterval(short, s.s.conf.StreamLook, notified, rand.Float64()) //nolint:gosec // not security-relevant
}

// pollInterval returns the polling interval of a stream. An operator's interval takes precedence. random is between 0
// and 1, so that streams that were woken together do not poll together.
func pollInterval(short, look time.Duration, notified bool, random float64) time.Duration {
	switch {
	case look > 0:
		return max(short, look)
	case notified:
		return max(short, quietPoll+time.Duration(random*float64(quietPoll)))
	default:
		return short
	}
}

// wait returns the context for the next Show when Changed was signalled or atMost has passed, and an error when the
// stream is over. Meanwhile it sends heartbeats and checks access. While the check is unavailable it shows nothing and
// tries again.
func (s *Stream) wait(ctx context.Context, f Followed, atMost time.Duration) (context.Context, error) {
	changed, due, poll, check := f.Changed, false, s.after(atMost), s.after(f.Check)
	timer := time.NewTimer(min(poll, s.beat, check) - s.now())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx, ctx.Err()
		case <-changed:
			changed, due = nil, true // Show reads all changes, so the next signal is for the next wait
		case <-timer.C:
			due = due || s.now() >= poll
		}
		if s.now() >= s.beat {
			if err := s.write([]byte(":\n\n")); err != nil {
				return ctx, err
			}
		}
		if due || s.now() >= check {
			now, err := f.Admit(ctx)
			check = s.after(f.Check)
			if err != nil && fault.KindOf(err) != fault.Unavailable {
				return ctx, err
			}
			if err == nil && due {
				return now, nil
			}
			if due {
				poll = s.after(f.Poll)
			}
		}
		timer.Reset(min(poll, s.beat, check) - s.now())
	}
}

// now returns the current instant, as the time since the server was created.
func (s *Stream) now() time.Duration { return s.s.begun.Elapsed() }

// after returns the instant d from now. A long pause ends up to pollSlot earlier, at the same instant as others.
func (s *Stream) after(d time.Duration) time.Duration {
	at := s.now() + d
	if d >= 4*pollSlot {
		at = at.Truncate(pollSlot)
	}
	return at
}
