package event

import (
	"encoding/json"
	"fmt"
	"time"

	"comanda/internal/uid"
)

// Event is one fact in the form in which it is stored and carried.
type Event struct {
	ID          string          // uid; what repetitions are recognised by
	Type        string          // name in the registry
	Aggregate   string          // kind of thing it happened to
	AggregateID string          // the thing itself
	Seq         int64           // the thing's version after the fact, ascending per aggregate
	BranchID    int64           // where
	At          time.Time       // when, UTC in whole milliseconds
	Payload     json.RawMessage // JSON object as the registry describes it
}

// Kind is a registered type together with its payload, so that an event can neither be made with another payload than
// the documented one nor be read as one.
type Kind[P any] struct{ Type }

// New makes an event of this kind. The payloads are flat structures of this package, which always marshal; one that
// does not is a defect of the program, and panics.
func (k Kind[P]) New(at time.Time, aggregateID string, seq, branchID int64, payload P) Event {
	raw, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("event: the payload of %s does not marshal: %v", k.Name, err))
	}
	return Event{
		ID:          uid.New(at),
		Type:        k.Name,
		Aggregate:   k.Aggregate,
		AggregateID: aggregateID,
		Seq:         seq,
		BranchID:    branchID,
		At:          at.UTC().Truncate(time.Millisecond),
		Payload:     raw,
	}
}

// Decode reads the payload of an event of this kind. Unknown fields are ignored, because a newer producer may add them.
func (k Kind[P]) Decode(e Event) (P, error) {
	var p P
	if e.Type != k.Name {
		return p, fmt.Errorf("event: %s %s is not a %s", e.Type, e.ID, k.Name)
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		return p, fmt.Errorf("event: payload of %s %s: %w", e.Type, e.ID, err)
	}
	return p, nil
}
