def absences(text: str) -> tuple[str, ...]:
    return ()
