package queue

import (
	"errors"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"

	"comanda/internal/backoff"
)

func TestReason_is_bounded_and_stays_text(t *testing.T) {
	t.Parallel()
	got := Reason(strings.Repeat("ờ", maxReason))
	if len(got) > maxReason || strings.ToValidUTF8(got, "") != got {
		t.Errorf("reason has %d bytes, valid text: %v", len(got), strings.ToValidUTF8(got, "") == got)
	}
}

func TestReason_replaces_invalid_characters(t *testing.T) {
	t.Parallel()
	testenv.Equal(t, "also ??", Reason("also \x00\xff"))
}

// A row is tried MaxAttempts times, and is dead after the last one.
func TestPolicy_Failed(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_772_000_000_000)
	p := Policy{Policy: backoff.Policy{First: time.Second, Factor: 3, Max: 5 * time.Second}, MaxAttempts: 3}
	for attempts, want := range map[int]Failure{
		1: {ID: "a", Read: 1, Attempts: 1, Due: now.Add(time.Second), Reason: "no"},
		2: {ID: "a", Read: 2, Attempts: 2, Due: now.Add(3 * time.Second), Reason: "no"},
		3: {ID: "a", Read: 3, Attempts: 3, Due: now.Add(5 * time.Second), Reason: "no", Dead: true},
	} {
		if got := p.Failed("a", attempts, attempts, now, errors.New("no")); got != want {
			t.Errorf("after %d attempts %+v", attempts, got)
		}
	}
	if got := Released("a", 2, now); got != (Failure{ID: "a", Read: 2, Attempts: 1, Due: now}) {
		t.Errorf("released %+v", got)
	}
}
