package visithttp_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"

	"comanda/internal/audit/auditsql"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

var run = regexp.MustCompile(`^M(\d+) (\d+)h(\d+)v1h-(\d+)z`)

// scan renders the path of an SVG and decodes the QR code in it. It fails if the code touches the quiet zone. It does
// not search for the code as a phone does, because this library's search misses three of a thousand valid codes.
func scan(t *testing.T, side int, path string) string {
	t.Helper()
	const px = 6
	img := image.NewGray(image.Rect(0, 0, side*px, side*px))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	for path != "" {
		m := run.FindStringSubmatch(path)
		if m == nil {
			t.Fatalf("not a run of squares: %.40s", path)
		}
		path = path[len(m[0]):]
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		n, _ := strconv.Atoi(m[3])
		if x < 4 || y < 4 || x+n > side-4 || y+1 > side-4 || m[3] != m[4] {
			t.Fatalf("%s of %d lies in the quiet zone", m[0], side)
		}
		for dy := range px {
			for dx := range n * px {
				img.SetGray(x*px+dx, y*px+dy, color.Gray{})
			}
		}
	}
	bits := testenv.Must(gozxing.NewBinaryBitmapFromImage(img))(t)
	result, err := qrcode.NewQRCodeReader().Decode(bits, map[gozxing.DecodeHintType]any{gozxing.DecodeHintType_PURE_BARCODE: true})
	if err != nil {
		t.Fatalf("the code is not readable: %v", err)
	}
	if level := result.GetResultMetadata()[gozxing.ResultMetadataType_ERROR_CORRECTION_LEVEL]; level != "M" {
		t.Errorf("the code's level is %v", level)
	}
	return result.GetText()
}

// sheetCard is a card of the sheet.
type sheetCard struct {
	section, label, code, url string
	hints                     []string
	wide                      float64
	side                      int
}

// cards parses a sheet, which must be well-formed to its end. Pages are separated by the class "sheet".
func cards(t *testing.T, page string) (all []sheetCard, pages int, foot []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	class := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, pages, foot
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			class = attr["class"]
			switch {
			case class == "sheet":
				pages++
			case class == "card":
				all = append(all, sheetCard{})
			case class == "code":
				c := &all[len(all)-1]
				c.wide, _ = strconv.ParseFloat(attr["width"], 64)
				_, _ = fmt.Sscanf(attr["viewBox"], "0 0 %d", &c.side)
			case e.Name.Local == "path" && len(all) > 0 && attr["d"] != "" && all[len(all)-1].code == "" && attr["class"] == "":
				all[len(all)-1].code = attr["d"]
			}
		case xml.CharData:
			switch text := string(e); class {
			case "section":
				all[len(all)-1].section += text
			case "label":
				all[len(all)-1].label += text
			case "url":
				all[len(all)-1].url += text
			case "hint":
				all[len(all)-1].hints = append(all[len(all)-1].hints, text)
			case "foot", "warning":
				foot = append(foot, text)
			}
		case xml.EndElement:
			class = ""
		}
	}
}

func TestSheet(t *testing.T) {
	s := newSite(t)
	var all tables
	s.ask(t, "POST", "/api/tables", `{"branchId":"1","label":"<b>&\"\u684c"}`, "", nil)
	s.ask(t, "GET", "/api/tables?branchId=1", "", "", &all)
	w := s.ask(t, "GET", "/api/tables/qr-sheet?branchId=1", "", "", nil)
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "style-src 'sha256-") {
		t.Fatalf("sheet: status %d with headers %v, want 200 with uncached HTML under a policy", w.Code, w.Header())
	}
	got, pages, foot := cards(t, w.Body.String())
	if pages != 1 || len(got) != len(all.Items) {
		t.Fatalf("%d pages, %d cards of %d tables", pages, len(got), len(all.Items))
	}
	for i, c := range got {
		table := all.Items[i]
		if text := scan(t, c.side, c.code); text != table.Link || !strings.HasPrefix(text, "https://order.example/m/") {
			t.Errorf("%s: a phone reads %q, want %q", table.Label, text, table.Link)
		}
		if mm := c.wide * float64(c.side-8) / float64(c.side); mm < 30 {
			t.Errorf("%s: the code is %.1f mm wide", table.Label, mm)
		}
		if c.label != table.Label || c.url != strings.TrimPrefix(table.Link, "https://") {
			t.Errorf("%s: the card says %q and %q", table.Label, c.label, c.url)
		}
		testenv.Equal(t, []string{"Quét mã để gọi món", "Scan to order", "掃描 QR Code 點餐"}, c.hints)
	}
	testenv.Equal(t, []string{"Comanda Hà Nội · In ngày 2026-02-26 · trang 1/1"}, foot)
}

// The cards of a section are adjacent on the sheet and show its name.
func TestSheet_sections(t *testing.T) {
	s := newSite(t)
	for table, section := range map[string]string{"2": "Sân & vườn", "4": "Sân & vườn", "6": "Bar"} {
		wantStatus(t, s.ask(t, "PATCH", "/api/tables/"+table, `{"section":"`+section+`"}`, "", nil), 200, "")
	}
	got, _, _ := cards(t, s.ask(t, "GET", "/api/tables/qr-sheet?branchId=1", "", "", nil).Body.String())
	var order []string
	for _, c := range got {
		order = append(order, c.label+" "+c.section)
	}
	testenv.Equal(t, []string{"A1 ", "A3 ", "A5 ", "A2 Sân & vườn", "A4 Sân & vườn", "A6 Bar"}, order)
}

func TestSheet_pages(t *testing.T) {
	s := newSite(t)
	for i := range 20 {
		s.ask(t, "POST", "/api/tables", fmt.Sprintf(`{"branchId":"2","label":"Long table %d"}`, i), "", nil)
	}
	got, pages, foot := cards(t, s.ask(t, "GET", "/api/tables/qr-sheet?branchId=2", "", "", nil).Body.String())
	if len(got) != 26 || pages != 3 || len(foot) != 3 || !strings.HasSuffix(foot[2], "3/3 頁") {
		t.Errorf("%d cards on %d pages: %q", len(got), pages, foot)
	}
	got, _, _ = cards(t, s.ask(t, "GET", "/api/tables/qr-sheet?branchId=1&tableIds=5,3", "", "", nil).Body.String())
	if len(got) != 2 || got[0].label != "A3" || got[1].label != "A5" {
		t.Errorf("two of them: %+v", got)
	}
	for path, want := range map[string]struct {
		status int
		code   string
	}{
		"/api/tables/qr-sheet":                                     {422, "invalid"},
		"/api/tables/qr-sheet?branchId=9":                          {404, "branch_not_found"},
		"/api/tables/qr-sheet?branchId=1&tableIds=99":              {404, "table_not_found"},
		"/api/tables/qr-sheet?branchId=1&tableIds=8":               {404, "table_not_found"},
		"/api/tables/qr-sheet?branchId=1&tableIds=x":               {422, "invalid"},
		"/api/tables/qr-sheet?branchId=1&tableIds=" + manyIDs(201): {422, "invalid"},
		"/api/tables/99/qr.svg":                                    {404, "table_not_found"},
	} {
		wantStatus(t, s.ask(t, "GET", path, "", "", nil), want.status, want.code)
	}
}

func manyIDs(n int) string { return strings.TrimSuffix(strings.Repeat("1,", n), ",") }

func TestCode(t *testing.T) {
	s := newSite(t)
	w := s.ask(t, "GET", "/api/tables/3/qr.svg", "", "", nil)
	if w.Code != 200 || w.Header().Get("Content-Type") != "image/svg+xml" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("code: status %d with headers %v, want 200 with an uncached SVG", w.Code, w.Header())
	}
	m := regexp.MustCompile(`viewBox="0 0 (\d+) \d+".*<path d="([^"]+)"/></svg>`).FindStringSubmatch(w.Body.String())
	if m == nil {
		t.Fatal(w.Body)
	}
	side, _ := strconv.Atoi(m[1])
	if got := scan(t, side, m[2]); got != "https://order.example/m/"+s.qr(t) {
		t.Errorf("a phone reads %q", got)
	}
}

// A code is only in the body of its response. The audit log records that it was printed.
func TestCodes_are_secrets(t *testing.T) {
	s := newSite(t)
	w := s.ask(t, "GET", "/api/tables/qr-sheet?branchId=1", "", "", nil)
	s.ask(t, "GET", "/api/tables/3/qr.svg", "", "", nil)
	if code := s.qr(t); strings.Contains(s.log.String()+fmt.Sprint(w.Header()), code) {
		t.Error("a code is in the log or in a header")
	}
	audit, err := auditsql.Verify(t.Context(), s.db)
	if err != nil || audit.Entries != 2 {
		t.Errorf("Verify = %+v, %v, want two entries", audit, err)
	}
}

// Codes that are only shown are not recorded as printed, and are the same codes.
func TestCodes_preview(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/api/tables/qr-sheet?branchId=1", "/api/tables/3/qr.svg?"} {
		shown := s.ask(t, "GET", path+"&preview=true", "", "", nil)
		audit, err := auditsql.Verify(t.Context(), s.db)
		if err != nil || audit.Entries != 0 || shown.Code != 200 {
			t.Errorf("%s as a preview: status %d, %+v, %v, want no entry", path, shown.Code, audit, err)
		}
	}
	for i, path := range []string{"/api/tables/qr-sheet?branchId=1", "/api/tables/3/qr.svg"} {
		s.ask(t, "GET", path, "", "", nil)
		if audit, err := auditsql.Verify(t.Context(), s.db); err != nil || audit.Entries != int64(i)+1 {
			t.Errorf("%s: %+v, %v, want %d entries", path, audit, err, i+1)
		}
	}
	printed, shown := s.ask(t, "GET", "/api/tables/3/qr.svg", "", "", nil), s.ask(t, "GET", "/api/tables/3/qr.svg?preview=true", "", "", nil)
	if printed.Body.String() != shown.Body.String() {
		t.Error("a preview has another code")
	}
}

func TestStaff_sections(t *testing.T) {
	s := newSite(t)
	type table struct{ ID, Label, Section string }
	var bulk struct{ Items []table }
	s.ask(t, "POST", "/api/branches/1/tables/bulk", `{"labels":"S1-S2","section":" Terrace "}`, "", &bulk)
	if len(bulk.Items) != 2 || bulk.Items[1].Section != "Terrace" || bulk.Items[1].Label != "S2" {
		t.Fatalf("tables = %+v, want S1 and S2 of Terrace", bulk)
	}
	var made table
	s.ask(t, "POST", "/api/tables", `{"branchId":"1","label":"S3","section":"Bar"}`, "", &made)
	if made.Section != "Bar" {
		t.Errorf("table = %+v, want section Bar", made)
	}
	for _, section := range []string{"Inside", ""} {
		var edited table
		s.ask(t, "PATCH", "/api/tables/"+made.ID, `{"section":"`+section+`"}`, "", &edited)
		if edited.Section != section || edited.Label != "S3" {
			t.Errorf("table with section %q = %+v, want S3 in it", section, edited)
		}
	}
	long := `{"section":"` + strings.Repeat("x", visit.MaxSection+1) + `"}`
	wantStatus(t, s.ask(t, "PATCH", "/api/tables/"+made.ID, long, "", nil), 422, "invalid")
}

func TestStaff_floor(t *testing.T) {
	s := newSite(t)
	type table struct {
		ID, Label, QRToken string
		Seats              int
		IsActive           bool
		Visit              *struct {
			ID       string
			Guests   int
			Currency string
			Unpaid   int64
		}
	}
	type seated struct {
		ID, TableID, TableLabel, Status string
		Calls                           []struct{ Reason, Since string }
	}
	var made, edited table
	if w := s.ask(t, "POST", "/api/tables", `{"branchId":"1","label":"T1"}`, "", &made); w.Code != 201 || made.Seats != 4 || !made.IsActive || len(made.QRToken) != 22 {
		t.Errorf("POST /api/tables: status %d, table %+v, want 201 with 4 seats and a code", w.Code, made)
	}
	s.ask(t, "PATCH", "/api/tables/"+made.ID, `{"label":"T2","seats":2,"isActive":false}`, "", &edited)
	if edited.Label != "T2" || edited.Seats != 2 || edited.IsActive || edited.QRToken != made.QRToken {
		t.Errorf("edited table = %+v, want an inactive T2 with 2 seats and the same code", edited)
	}
	wantStatus(t, s.ask(t, "GET", "/cis/landing?qr="+made.QRToken, "", "", nil), 409, "table_inactive")
	wantStatus(t, s.ask(t, "POST", "/api/visits", `{"tableId":"`+made.ID+`"}`, "", nil), 409, "table_inactive")
	wantStatus(t, s.ask(t, "POST", "/api/tables", `{"branchId":"1","label":"T2"}`, "", nil), 409, "table_label_taken")
	wantStatus(t, s.ask(t, "POST", "/api/tables", `{"branchId":"1","label":"T3","seats":0}`, "", nil), 422, "invalid")
	wantStatus(t, s.ask(t, "PATCH", "/api/tables/3", `{"seats":1000}`, "", nil), 422, "invalid")

	var v, moved, answered seated
	if w := s.ask(t, "POST", "/api/visits", `{"tableId":"3"}`, "", &v); w.Code != 201 || v.TableLabel != "A3" || v.Status != "OPEN" {
		t.Errorf("POST /api/visits: status %d, visit %+v, want 201, OPEN at A3", w.Code, v)
	}
	wantStatus(t, s.ask(t, "POST", "/api/visits", `{"tableId":"3"}`, "", nil), 409, "table_taken")
	wantStatus(t, s.ask(t, "POST", "/api/visits", `{"tableId":"0"}`, "", nil), 422, "invalid")
	var in struct{ CustomerToken, VisitID string }
	s.ask(t, "GET", "/cis/landing?qr="+s.qr(t), "", "", &in)
	if in.VisitID != v.ID {
		t.Error("a scan of the code did not join the visit")
	}
	s.ask(t, "POST", "/api/visits/"+v.ID+"/move", `{"tableId":"5"}`, "", &moved)
	if moved.TableID != "5" || moved.TableLabel != "A5" || len(moved.Calls) != 0 {
		t.Errorf("moved visit = %+v, want it at A5 without calls", moved)
	}
	wantStatus(t, s.ask(t, "POST", "/api/visits/"+v.ID+"/move", `{"tableId":"8"}`, "", nil), 404, "table_not_found")
	wantStatus(t, s.ask(t, "POST", "/api/visits/x/move", `{"tableId":"5"}`, "", nil), 404, "visit_not_found")

	call := "/cis/visit/" + v.ID + "/call"
	for _, reason := range []string{"WATER", "BILL", "WATER"} {
		var got struct{ Reason, Since string }
		if w := s.ask(t, "POST", call, `{"reason":"`+reason+`"}`, in.CustomerToken, &got); w.Code != 200 || got.Reason != reason || got.Since != "2026-02-26T05:00:00Z" {
			t.Errorf("call: status %d with body %s, want 200 with the time of the first call", w.Code, w.Body)
		}
	}
	wantStatus(t, s.ask(t, "POST", call, `{"reason":"SONG"}`, in.CustomerToken, nil), 422, "invalid")
	wantStatus(t, s.ask(t, "POST", call, `{"reason":"BILL"}`, "", nil), 401, "customer_token_invalid")
	wantStatus(t, s.ask(t, "POST", call, `{"reason":"BILL"}`, visit.NewCustomerToken(), nil), 401, "customer_token_invalid")
	wantStatus(t, s.ask(t, "POST", "/cis/visit/other/call", `{"reason":"BILL"}`, in.CustomerToken, nil), 404, "visit_not_found")
	s.ask(t, "POST", "/api/visits/"+v.ID+"/answer", `{"reason":"WATER"}`, "", &answered)
	if len(answered.Calls) != 1 || answered.Calls[0].Reason != "BILL" {
		t.Errorf("calls = %+v, want only BILL", answered.Calls)
	}
	s.ask(t, "POST", "/api/visits/"+v.ID+"/answer", "", "", &answered)
	if len(answered.Calls) != 0 {
		t.Errorf("calls = %+v, want none", answered.Calls)
	}
	var floor struct{ Items []table }
	s.ask(t, "GET", "/api/tables?branchId=1", "", "", &floor)
	if p := floor.Items[4].Visit; p == nil || p.ID != v.ID || p.Guests != 1 || p.Currency != "VND" || floor.Items[2].Visit != nil {
		t.Errorf("tables = %+v, want the visit at the fifth only", floor.Items)
	}
}
