package catalog

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"comanda/internal/fault"
)

// The sizes in which a picture of a dish is kept, by its width at most, in pixels.
const (
	Thumb = 320
	Large = 960
)

// MaxPictures bounds how many pictures a house keeps; each is two small files.
const MaxPictures = 5000

// pictureLives is how long a picture stays that no dish shows, so that whoever has just sent it can put it on one.
const pictureLives = 24 * time.Hour

// ErrPictures refuses a picture when there are too many.
var ErrPictures = fault.Newf(fault.Conflict, "image_limit", "A house keeps at most %d images.", MaxPictures)

// Picture is one picture in its sizes, as it is served. Its id is a hash of both: the same picture has the same id.
type Picture struct {
	ID    string
	Sizes map[int][]byte // by width: JPEG
}

var pictureID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// ValidPicture tells whether a text can be the id of a picture.
func ValidPicture(id string) bool { return pictureID.MatchString(id) }

// PictureURL is where a picture is served in its large size; empty for no picture.
func PictureURL(id string) string {
	if id == "" {
		return ""
	}
	return fmt.Sprintf("/media/%s-%d.jpg", id, Large)
}

// PictureOf gives the id of the picture that an address shows; empty for another's.
func PictureOf(url string) string {
	id, ok := strings.CutSuffix(strings.TrimPrefix(url, "/media/"), "-"+strconv.Itoa(Large)+".jpg")
	if !ok || !ValidPicture(id) {
		return ""
	}
	return id
}

// PictureStore keeps pictures, normally catalogsql.
type PictureStore interface {
	// KeepPicture stores a picture unless it is there, and deletes those that nobody has shown since an instant before.
	KeepPicture(ctx context.Context, p Picture, now, before time.Time) error
}

// Album takes pictures of dishes in.
type Album struct {
	Store   PictureStore
	Develop func(ctx context.Context, raw []byte) (Picture, error) // makes the sizes; what is no picture is a fault
	Now     func() time.Time
}

// Add takes a picture in and gives its id.
func (a *Album) Add(ctx context.Context, raw []byte) (string, error) {
	p, err := a.Develop(ctx, raw)
	if err != nil {
		return "", err
	}
	now := a.Now()
	return p.ID, a.Store.KeepPicture(ctx, p, now, now.Add(-pictureLives))
}
