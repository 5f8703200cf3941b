-- name: announce
-- Announces a file of the tribe's, and tells whether its bytes are there.
SELECT tributary.announce_file_v1(
    %(tribe_id)s, %(agent_id)s, %(sha256)s, %(bytes)s, %(content_type)s, %(name)s, %(most)s, %(now)s)

-- name: store
-- Notes that the bytes of a file are there.
SELECT tributary.store_file_v1(%(tribe_id)s, %(sha256)s, %(now)s)

-- name: file
-- A file of the tribe's.
SELECT tributary.file_v1(%(tribe_id)s, %(sha256)s)

-- name: loose
-- Gardener: the files that are to be removed.
SELECT tributary.loose_files_v1(%(tribe_id)s, %(before)s, %(now)s, %(limit)s, %(release)s)

-- name: forget
-- Gardener: forgets a file whose bytes are gone.
SELECT tributary.forget_file_v1(%(tribe_id)s, %(sha256)s)
