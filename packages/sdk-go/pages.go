package simway

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// pages asks for one page after the other. It ends with the last one, or with an error.
func pages[Page any](ctx context.Context, c *Client, path string, query url.Values) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for isMore := true; isMore; {
			body, err := call[json.RawMessage](ctx, c, http.MethodGet, path, query, nil)
			page, err := answered[Page](body, err, nil)
			if err == nil {
				isMore, err = turn(query, body)
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

func items[Page, Item any](pages iter.Seq2[Page, error], of func(Page) []Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		for page, err := range pages {
			if err != nil {
				yield(*new(Item), err)
				return
			}
			for _, item := range of(page) {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// turn makes the query that of the page after this one, and reports whether there is one.
func turn(query url.Values, body []byte) (bool, error) {
	type place struct {
		NextCursor *string
		HasMore    *bool
		Pagination struct {
			CurrentPage int
			HasNextPage bool
		}
	}
	var page struct {
		place
		Data *place
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return false, unreadable(err, nil)
	}
	at := page.place
	if page.Data != nil {
		at = *page.Data
	}
	if at.NextCursor == nil {
		query.Set("page", strconv.Itoa(at.Pagination.CurrentPage+1))
		return at.Pagination.HasNextPage, nil
	}
	// since is the name in the list of changes. A route ignores a name that it does not know.
	query.Set("after", *at.NextCursor)
	query.Set("since", *at.NextCursor)
	query.Del("page")
	if at.HasMore != nil {
		return *at.HasMore, nil
	}
	return *at.NextCursor != "", nil
}
