package stock

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A demand that was refused a moment ago is refused again. Other demands are not: another item, no more units than are
// left, a later request, or one after units were released.
func TestRecentRefusals(t *testing.T) {
	scope, now := Scope{Branch: 1, Date: "2026-02-26"}, time.UnixMilli(1000)
	hold := func(lines ...Line) Hold { return Hold{ID: "h", Scope: scope, Lines: lines} }
	var s recentRefusals
	refused := func(h Hold, at time.Time) bool {
		_, ok := s.lookup(h, at)
		return ok
	}
	if refused(hold(Line{1, 1}), now) {
		t.Error("nothing is known yet")
	}
	s.add(scope, []Shortage{{Item: 1, Requested: 9, Available: 2}, {Item: 2, Requested: 1}}, now)
	short, ok := s.lookup(hold(Line{1, 3}, Line{2, 1}), now)
	if diff := cmp.Diff([]Shortage{{Item: 1, Requested: 3, Available: 2}, {Item: 2, Requested: 1}}, short); !ok || diff != "" {
		t.Error(diff)
	}
	for name, h := range map[string]Hold{
		"as many as are left": hold(Line{1, 2}), "one line is not known": hold(Line{1, 3}, Line{3, 1}),
		"another date": {Scope: Scope{Branch: 1, Date: "2026-02-27"}, Lines: []Line{{1, 9}}},
	} {
		if refused(h, now) {
			t.Errorf("%s: refused", name)
		}
	}
	if refused(hold(Line{1, 9}), now.Add(refusalTTL)) {
		t.Error("refused for longer than a moment")
	}
	s.invalidate([]Op{{Kind: OpHeld, Hold: hold(Line{1, 1})}})
	if !refused(hold(Line{1, 9}), now) {
		t.Error("taking more made something available")
	}
	for _, kind := range []OpKind{OpCancel, OpReturn, OpCap} {
		s.add(scope, []Shortage{{Item: 1, Requested: 9}}, now)
		s.invalidate([]Op{{Kind: kind, Hold: hold(Line{1, 1})}})
		if refused(hold(Line{1, 9}), now) {
			t.Errorf("%s released nothing", kind)
		}
	}
}
