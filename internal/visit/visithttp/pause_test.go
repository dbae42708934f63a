package visithttp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/catalog/catalogsql"
	"comanda/internal/testenv"
)

// A guest who scans while the branch is paused receives the reason and the end of the pause, in the branch's locale
// that suits them best.
func TestLanding_paused(t *testing.T) {
	s := newSite(t)
	store := catalogsql.New(s.db, nil)
	house := &catalog.BranchAdmin{Store: store, Menus: catalog.NewMenuCache(store, catalog.NoSharedCache{}, s.clock.Now), Now: s.clock.Now}
	until := s.clock.Now().Add(time.Hour).Truncate(time.Second)
	texts := catalog.Texts{catalog.Vietnamese: "Mất điện", catalog.English: "Power cut"}
	testenv.Must(house.Pause(t.Context(), authz.System(), 1, catalog.Pause{Texts: texts}, catalog.Until{At: until}))(t)
	qr := s.qr(t)
	for language, want := range map[string]string{"": "Mất điện", "en-GB": "Power cut", "ja": "Mất điện"} {
		w := testenv.Serve(t, s, "GET", "/cis/landing?qr="+qr, "", "Accept-Language", language)
		var got struct{ Paused map[string]any }
		testenv.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
		notified := map[string]any{"reasonCode": nil, "reason": want, "until": until.Format(time.RFC3339)}
		if d := cmp.Diff(notified, got.Paused); d != "" {
			t.Errorf("pause in %q (-want +got):\n%s", language, d)
		}
	}
	s.clock.Advance(time.Hour)
	var got struct{ Paused map[string]any }
	if s.ask(t, "POST", "/cis/landing", `{"qr":"`+qr+`"}`, "", &got); got.Paused != nil {
		t.Errorf("an hour later: %v", got.Paused)
	}
}
