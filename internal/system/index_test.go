package system

import (
	"strings"
	"testing"

	"comanda/internal/document"
	"comanda/internal/redisdb/redisdbtest"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
)

// If Redis holds more keys than a request can scan, what SQL implies is compared, and the answer says what was not. The
// result does not replace that of a complete comparison.
func TestIndex_too_many_keys(t *testing.T) {
	s := NewService(Config{DB: sqldbtest.SQLite(t), Redis: redisdbtest.Redis(t), Epoch: func() string { return "e" }})
	testenv.NoError(t, s.RebuildDocuments(t.Context(), nil),
		s.Redis.Do(t.Context(), "SET", document.User.Keys.Key("999"), "{}").Err())
	whole := testenv.Must(s.Index(t.Context()))(t)
	if v := whole.Verification; v == nil || v.Found[document.OrphanDocument] != 1 || v.Note != "" {
		t.Errorf("verification = %+v, want one orphan and no note", v)
	}
	s.maxScanned = 0
	part := testenv.Must(s.Index(t.Context()))(t)
	if v := part.Verification; v == nil || len(v.Found) != 0 || !strings.Contains(v.Note, "comanda index verify") {
		t.Errorf("verification = %+v, want no difference and a note", v)
	}
	if last, ok := s.lastVerified(t.Context()); !ok || last.Differences() != 1 {
		t.Errorf("saved %+v, %t, want the complete comparison", last, ok)
	}
}
