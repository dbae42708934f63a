package documentredis

import (
	"context"
	"strings"

	"comanda/internal/document"
	"comanda/internal/keyspace"
	"comanda/internal/redisdb"
)

// Server implements document.Markers.
func (s *Store) Server(ctx context.Context) (string, error) { return s.db.Identity(ctx) }

var markerKeys = func() (keys [keyspace.EpochMarks]keyspace.Key) {
	for i := range keys {
		keys[i] = keyspace.EpochMark(i)
	}
	return keys
}()

// Markers implements document.Markers.
func (s *Store) Markers(ctx context.Context) ([]document.Marker, error) {
	texts, err := s.texts(ctx, markerKeys[:])
	if err != nil {
		return nil, err
	}
	marks := make([]document.Marker, len(texts))
	for i, text := range texts {
		marks[i].Epoch, marks[i].Building, _ = strings.Cut(text, "|")
	}
	return marks, nil
}

// MarkBuilding implements document.Markers. The old epoch stays readable until the rebuild ends. Reading and writing
// are two steps; only the builder with the claim writes markers.
func (s *Store) MarkBuilding(ctx context.Context, building string) error {
	marks, err := s.Markers(ctx)
	if err != nil {
		return err
	}
	cmds := make([]redisdb.Cmd, len(marks))
	for i, m := range marks {
		cmds[i] = redisdb.Command("SET", markerKeys[i], m.Epoch+"|"+building)
	}
	_, err = s.send(ctx, cmds)
	return err
}

// MarkBuilt implements document.Markers. Each marker is checked and set by one script. After a failure some markers may
// have the new epoch already; SQL does not name it, so no reader trusts them.
func (s *Store) MarkBuilt(ctx context.Context, building string) (ok bool, err error) {
	cmds := make([]redisdb.Cmd, len(markerKeys))
	for i, k := range markerKeys {
		cmds[i] = markScript.Command([]keyspace.Key{k}, building)
	}
	replies, err := s.send(ctx, cmds)
	if err != nil {
		return false, err
	}
	for _, r := range replies {
		done, err := r.Int()
		if err != nil || done == 0 {
			return false, err
		}
	}
	return true, nil
}

// isCurrent reports whether the markers likely to be on the nodes of keys have an epoch. A node owns ranges of slots,
// so the marker nearest to a key's slot is on the key's node, except for keys at the ends of a range. On a single
// server any marker will do.
func (s *Store) isCurrent(ctx context.Context, epoch string, keys []keyspace.Key) (bool, error) {
	marks := make([]keyspace.Key, len(keys))
	for i, k := range keys {
		marks[i] = markerKeys[s.nearestMarker(k)]
	}
	texts, err := s.texts(ctx, marks)
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		if shown, _, _ := strings.Cut(text, "|"); shown != epoch || epoch == "" {
			return false, nil
		}
	}
	return true, nil
}

// nearestMarker returns the marker whose slot is nearest to the key's.
func (s *Store) nearestMarker(k keyspace.Key) int {
	slot, best := int(s.db.Slot(k)), 0
	for i, at := range s.markerSlots {
		if abs(at-slot) < abs(s.markerSlots[best]-slot) {
			best = i
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
