package uid

import (
	"testing"
	"time"
)

// A name has one identifier, which is valid, sorts by its instant, and differs for other parts.
func TestNamed(t *testing.T) {
	at := time.Date(2025, 11, 3, 4, 20, 0, 0, time.UTC)
	id := Named(at, "order", "1", "pos-1")
	if id != Named(at, "order", "1", "pos-1") || !Valid(id) {
		t.Errorf("Named = %q, want one valid identifier", id)
	}
	seen := map[string]bool{id: true}
	for _, parts := range [][]string{{"order", "1", "pos-2"}, {"order", "2", "pos-1"}, {"order", "1pos-1"}, {"order", "", "1pos-1"}, nil} {
		other := Named(at, parts...)
		if seen[other] {
			t.Errorf("%q has the identifier of another name", parts)
		}
		seen[other] = true
		if other[:9] != id[:9] { // 45 of the 48 bits of the time
			t.Errorf("%q = %s does not begin with the instant, like %s", parts, other, id)
		}
	}
	if later := Named(at.Add(time.Second), "order", "1", "pos-1"); later <= id {
		t.Errorf("a second later: %s, not after %s", later, id)
	}
	var fresh Source // the shared one never goes back in time
	if n := fresh.New(at); n[:9] != id[:9] {
		t.Errorf("New = %s, want the beginning of %s", n, id)
	}
}
